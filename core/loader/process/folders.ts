import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SERVER_DIR } from '../../server-dir.ts'
import type { PluginPackage } from '../packages.ts'

/** What the script in the process consists of. */
const SCRIPT = ['core/loader/process', 'core/loader/memo.ts', 'core/http/mask.ts', 'core/http/response.ts', 'package.json']
const SDK = '@svc/plugin-sdk'

async function readDependencies (folder: string): Promise<string[]> {
  try {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } =
      JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, Record<string, string> | undefined>
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  } catch {
    // Whoever imports it is told.
    return []
  }
}

/** Where Node finds a package that is imported from a folder; null when it does not. */
function findPackage (name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(found)) return found
    if (dirname(folder) === folder) return null
  }
}

/** A package and everything it depends on. */
async function collect (folder: string, known: Set<string>): Promise<void> {
  const real = await realpath(folder)
  known.add(folder)
  if (known.has(real) && folder !== real) return
  known.add(real)
  for (const name of await readDependencies(real)) {
    const found = findPackage(name, real) ?? findPackage(name, folder)
    if (found !== null && !known.has(found)) await collect(found, known)
  }
}

/** What the process of a plugin may read: the plugin, what that depends on, the SDK, and its own script. */
export async function listReadable (pack: PluginPackage): Promise<string[]> {
  const folders = new Set<string>()
  await collect(pack.folder, folders)
  const linked = findPackage(SDK, pack.folder)
  if (linked !== null) folders.add(linked)
  await collect(join(SERVER_DIR, 'node_modules', SDK), folders)
  return [...folders, ...SCRIPT.map((path) => join(SERVER_DIR, path))]
}
