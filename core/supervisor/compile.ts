import { spawnSync } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadLater } from '../composition/later.ts'
import { requireFreeSpace } from '../files/free-space.ts'
import { listPluginPackages } from '../loader/packages.ts'
import { SERVER_DIR } from '../server-dir.ts'
import { COMPILED_MAX_BYTES, keepCompiledCode } from './compiled.ts'

const COMMAND_LINE = join(SERVER_DIR, 'core', 'cli', 'main.ts')

/** Those that come with the server: the scan worker runs them itself. */
async function importPlugins (): Promise<void> {
  const entries = listPluginPackages(dataDir).flatMap(({ origin, entry }) => origin === 'built-in' && entry !== null ? [entry] : [])
  await Promise.all(entries.map((entry) => import(pathToFileURL(entry).href)))
}

/**
 * Entry of the process that compiles the server once for all later starts, at leisure; its argument is the data
 * directory. It ends with 1 when there is no room for that.
 */
setPriority(19)
const [, , dataDir = ''] = process.argv
const hasRoom = await requireFreeSpace(dataDir, COMPILED_MAX_BYTES).then(() => true, () => false)
if (hasRoom) {
  // The first is the entry of the processes that run the server: it waits for an order, which never comes.
  await Promise.all([import('./child.ts'), import('../server.ts'), import('../cli/start.ts'), loadLater(), importPlugins()])
  // The entry of the command line would run a command here.
  spawnSync(process.execPath, [...process.execArgv, COMMAND_LINE, '--version'])
  keepCompiledCode(dataDir)
}
process.exit(hasRoom ? 0 : 1)
