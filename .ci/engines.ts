import { satisfies } from 'semver'
import type { LockedPackage, Lockfile } from './lockfile.ts'
import { NODE_PACKAGES } from './node-programs.ts'

/** The first Node version that runs core/svc.js, as in that file. */
const NODE_MAJOR = 24
/** npm skips an optional package if its own Node does not match the package's engines. */
const OLDER_NODE = { node: `<${NODE_MAJOR}` }

/** Returns the Node range of a package. A few old packages have a list, such as `["node >= 0.8.0"]`. */
function nodeRangeOf ({ engines }: LockedPackage): string | undefined {
  if (Array.isArray(engines)) {
    const text: unknown = engines.find((entry) => typeof entry === 'string' && entry.startsWith('node'))
    return typeof text === 'string' ? text.replace(/^node\s*/, '') : undefined
  }
  const range: unknown = typeof engines === 'object' && engines !== null ? Reflect.get(engines, 'node') : undefined
  return typeof range === 'string' ? range : undefined
}

/** Returns the bundled versions of Node, one for each platform. */
export function listNodeVersions ({ packages }: Lockfile): string[] {
  return NODE_PACKAGES.flatMap((name) => packages[`node_modules/${name}`]?.version ?? [])
}

/**
 * Returns a copy of the lockfile without the engines that every bundled Node satisfies, and the engines that are not
 * satisfied. The bundled Nodes are installed only for an older one.
 */
export function withoutEngines (lockfile: Lockfile): { lockfile: Lockfile, unmet: string[] } {
  const versions = listNodeVersions(lockfile)
  const unmet: string[] = []
  const packages = Object.entries(lockfile.packages).map(([path, locked]): [string, LockedPackage] => {
    if (NODE_PACKAGES.some((name) => path === `node_modules/${name}`)) return [path, { ...locked, engines: OLDER_NODE }]
    const range = nodeRangeOf(locked)
    const missing = range === undefined ? undefined : versions.find((version) => !satisfies(version, range))
    if (missing !== undefined) {
      unmet.push(`${path} needs Node ${range}; the one that comes along is ${missing}`)
      return [path, locked]
    }
    const { engines: _engines, ...kept } = locked
    return [path, kept]
  })
  return { lockfile: { ...lockfile, packages: Object.fromEntries(packages) }, unmet }
}
