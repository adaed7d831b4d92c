import {
  existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync, symlinkSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isInside } from '../../files/safe-path.ts'
import { SERVER_DIR } from '../../server-dir.ts'
import { isPackageName, listDependencyNames } from './dependencies.ts'
import { parseDependencies, pluginsFolder } from './plugins-folder.ts'

/** A folder that may contain a plugin. */
export interface PluginPackage {
  folder: string
  name: string
  version: string | null
  /** The `svc` key of its package.json, unchecked; undefined if there is none. */
  manifest: unknown
  /** The file to import; null if package.json names none that exists. */
  entry: string | null
  origin: 'built-in' | 'community'
  /** The reason why the package cannot be read; null if it can. */
  problem: string | null
}

/** The SDK package. Plugins that import it get the server's own copy. */
const SDK = '@svc/plugin-sdk'
export const BUILT_IN_FOLDERS = ['providers', 'channels', 'exporters']
/** Built-in packages run from their sources; packages from npm are plain JavaScript. */
const CONDITIONS = { 'built-in': ['svc:source', 'import', 'default'], community: ['import', 'node', 'default'] }

function pickCondition (target: unknown, conditions: readonly string[]): string | null {
  if (typeof target === 'string') return target
  if (typeof target !== 'object' || target === null) return null
  for (const [condition, value] of Object.entries(target)) {
    const found = conditions.includes(condition) ? pickCondition(value, conditions) : null
    if (found !== null) return found
  }
  return null
}

function findEntry (folder: string, json: Record<string, unknown>, origin: PluginPackage['origin']): string | null {
  const { exports, main } = json
  const root = typeof exports === 'object' && exports !== null && '.' in exports ? exports['.'] : exports
  const target = pickCondition(root, CONDITIONS[origin]) ?? (typeof main === 'string' ? main : 'index.js')
  const file = join(folder, target)
  return existsSync(file) ? file : null
}

function readPackage (folder: string, origin: PluginPackage['origin']): PluginPackage {
  const unreadable = { folder, name: folder, version: null, manifest: undefined, entry: null, origin }
  try {
    const json: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (typeof json !== 'object' || json === null) return { ...unreadable, problem: 'its package.json is not an object' }
    const { name, version, svc } = json as Record<string, unknown>
    const entry = findEntry(folder, json as Record<string, unknown>, origin)
    if (entry !== null && !isInside(realpathSync(folder), realpathSync(entry))) {
      return { ...unreadable, problem: `its package.json exports '${entry}', which is outside of its folder; correct it there` }
    }
    const invalid = listDependencyNames(json as Record<string, unknown>).find((needed) => !isPackageName(needed))
    return {
      folder,
      origin,
      name: typeof name === 'string' ? name : folder,
      version: typeof version === 'string' ? version : null,
      manifest: svc,
      entry,
      problem: invalid === undefined
        ? null
        : `its package.json depends on '${invalid}', which is not a valid name of an npm package; remove it`
    }
  } catch (err) {
    return { ...unreadable, problem: `its package.json cannot be read: ${(err as Error).message}` }
  }
}

function listBuiltIn (serverDir: string): PluginPackage[] {
  return BUILT_IN_FOLDERS.flatMap((parent) => {
    const folder = join(serverDir, parent)
    if (!existsSync(folder)) return []
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'package.json')))
      .map((entry) => readPackage(join(folder, entry.name), 'built-in'))
  })
}

/**
 * Returns the packages that the operator installed: the dependencies of `plugins/package.json` in the data directory.
 */
function listCommunity (dataDir: string): PluginPackage[] {
  const parent = pluginsFolder(dataDir)
  const file = join(parent, 'package.json')
  const absent = { version: null, manifest: undefined, entry: null, origin: 'community' as const }
  try {
    // The SDK may be among them if npm was run by hand.
    return Object.keys(parseDependencies(file)).filter((name) => name !== SDK).map((name) => {
      const folder = join(parent, 'node_modules', name)
      return existsSync(folder)
        ? readPackage(folder, 'community')
        : { ...absent, folder, name, problem: `it is not installed; run svc plugins add ${name}` }
    })
  } catch (err) {
    const problem = `it cannot be read: ${(err as Error).message}. Correct or delete it`
    return [{ ...absent, folder: parent, name: file, problem }]
  }
}

/**
 * Returns all packages that may be plugins: the built-in ones by folder name, then community ones in the order of
 * installation.
 */
export function listPluginPackages (dataDir: string, serverDir = SERVER_DIR): PluginPackage[] {
  return [...listBuiltIn(serverDir), ...listCommunity(dataDir)]
}

/**
 * Makes `import '@svc/plugin-sdk'` in community packages load this server's SDK. A plugin with its own copy would throw
 * errors of other classes.
 */
export function linkSdk (dataDir: string): void {
  const modules = join(pluginsFolder(dataDir), 'node_modules')
  if (!existsSync(modules)) return
  const sdk = dirname(createRequire(join(SERVER_DIR, 'package.json')).resolve(`${SDK}/package.json`))
  const link = join(modules, SDK)
  if (isLinkTo(link, sdk)) return
  rmSync(link, { recursive: true, force: true })
  mkdirSync(dirname(link), { recursive: true })
  try {
    symlinkSync(sdk, link, 'junction')
  } catch (err) {
    // All processes of the server start at once, so another one may just have created the link.
    if (!isLinkTo(link, sdk)) throw err
  }
}

function isLinkTo (link: string, target: string): boolean {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(link) === target
}
