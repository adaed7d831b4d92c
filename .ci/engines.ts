import { satisfies } from 'semver'
import { NODE_PACKAGES } from './node-programs.ts'

/** As in core/svc.js, which runs on whatever it was started with from this version on. */
const NODE_MAJOR = 24
/** npm leaves an optional package out whose engines its own Node is not. */
const OLDER_NODE = { node: `<${NODE_MAJOR}` }

interface LockedPackage { version?: string, engines?: unknown }
interface Lockfile { packages: Record<string, LockedPackage> }

/** A few old packages have a list, such as `["node >= 0.8.0"]`. */
function nodeRangeOf ({ engines }: LockedPackage): string | undefined {
  if (Array.isArray(engines)) {
    const text: unknown = engines.find((entry) => typeof entry === 'string' && entry.startsWith('node'))
    return typeof text === 'string' ? text.replace(/^node\s*/, '') : undefined
  }
  const range: unknown = typeof engines === 'object' && engines !== null ? Reflect.get(engines, 'node') : undefined
  return typeof range === 'string' ? range : undefined
}

/** The versions of Node that come along, one for each platform. */
export function listNodeVersions ({ packages }: Lockfile): string[] {
  return NODE_PACKAGES.flatMap((name) => packages[`node_modules/${name}`]?.version ?? [])
}

/**
 * The same without the engines that every Node which comes along satisfies, and what is unmet of the others. Those Nodes
 * come along for an older one only.
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
