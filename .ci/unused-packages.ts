import type { LockedPackage, Lockfile } from './lockfile.ts'

/** Optional packages that a dependency uses only in Node, while the server uses it only in browsers: 33 MB. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  'node_modules/pdfjs-dist': ['@napi-rs/canvas', 'node-readable-to-web-readable-stream']
}

/** Returns the paths of a package and of the packages that belong to it, one for each platform. */
const isPartOf = (path: string, name: string) => path === `node_modules/${name}` || path.startsWith(`node_modules/${name}-`)

/** Returns a copy of the lockfile without packages that nothing here uses, so that npm does not install them. */
export function withoutUnused (lockfile: Lockfile): Lockfile {
  const names = Object.values(UNUSED).flat()
  const packages = Object.entries(lockfile.packages)
    .filter(([path]) => !names.some((name) => isPartOf(path, name)))
    .map(([path, locked]): [string, LockedPackage] => {
      const { [path]: unused } = UNUSED
      if (unused === undefined) return [path, locked]
      const { optionalDependencies = {}, ...rest } = locked
      const used = Object.entries(optionalDependencies).filter(([name]) => !unused.includes(name))
      return [path, used.length === 0 ? rest : { ...rest, optionalDependencies: Object.fromEntries(used) }]
    })
  return { ...lockfile, packages: Object.fromEntries(packages) }
}
