import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { isInside } from '../../files/safe-path.ts'
import { SERVER_DIR } from '../../server-dir.ts'
import { isPackageName, listDependencyNames } from '../packages/dependencies.ts'
import type { PluginPackage } from '../packages/packages.ts'

/** The files of the script that runs in the process. */
const SCRIPT = [
  'core/loader/process', 'core/loader/descriptor.ts', 'core/loader/settings/masked-log.ts', 'core/loader/calls/memo.ts',
  'core/http/mask.ts', 'core/http/response.ts', 'package.json'
]
const SDK = '@svc/plugin-sdk'

async function readDependencies (folder: string): Promise<string[]> {
  try {
    const json: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    return listDependencyNames(json as Record<string, unknown>).filter(isPackageName)
  } catch {
    // The import fails later and reports the error.
    return []
  }
}

/** Returns the folder in which Node finds a package imported from a folder; null if there is none. */
function findPackage (name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(found)) return found
    if (dirname(folder) === folder) return null
  }
}

/** @param modulesFolders folders that may contain dependencies, besides that of the plugin itself */
async function collect (folder: string, modulesFolders: readonly string[], collected: Set<string>): Promise<void> {
  const real = await realpath(folder)
  collected.add(folder)
  if (collected.has(real) && folder !== real) return
  collected.add(real)
  for (const name of await readDependencies(real)) {
    const found = findPackage(name, real) ?? findPackage(name, folder)
    if (found === null || collected.has(found)) continue
    const target = await realpath(found)
    if (modulesFolders.some((one) => isInside(one, target))) await collect(found, modulesFolders, collected)
  }
}

/** Returns the `node_modules` that contains the plugin and its dependencies; null for a folder elsewhere. */
function findModules (folder: string): string | null {
  const parts = folder.split(sep)
  const index = parts.lastIndexOf('node_modules')
  return index === -1 ? null : parts.slice(0, index + 1).join(sep)
}

/**
 * Returns the paths that the process of a plugin may read: the plugin, its dependencies, the SDK, and the script of the
 * process. A dependency counts if npm installed it: in the plugin's folder, beside it, or in the server's
 * `node_modules`.
 */
export async function listReadable (pack: PluginPackage): Promise<string[]> {
  const sdk = await realpath(join(SERVER_DIR, 'node_modules', SDK))
  const candidates = [pack.folder, findModules(pack.folder), join(SERVER_DIR, 'node_modules')].filter((one) => one !== null)
  const modulesFolders = [...await Promise.all(candidates.map((one) => realpath(one))), sdk]
  const folders = new Set<string>()
  await collect(pack.folder, modulesFolders, folders)
  const linked = findPackage(SDK, pack.folder)
  if (linked !== null && await realpath(linked) === sdk) folders.add(linked)
  await collect(sdk, modulesFolders, folders)
  folders.add(join(SERVER_DIR, 'node_modules', SDK))
  return [...folders, ...SCRIPT.map((path) => join(SERVER_DIR, path))]
}
