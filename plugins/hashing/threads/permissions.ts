import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { inheritedFolder } from '../../../core/loader/packages/strip-types.ts'
import { canConfine } from '../../../core/loader/process/node-level.ts'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { PERMISSION } from './thread-flags.ts'

/** The server's own code, without what may lie beside it: the data directory and `config.yml`. */
const CODE = ['core', 'plugins', 'sdk', 'node_modules', 'package.json']
const START_THREADS = ['--allow-worker', '--disable-warning=PERM0006']

/**
 * The flags that let the process read the server's code and `folders` only, write nothing and start no program. A Node
 * whose permission model lets code past gets none.
 */
export function permissionFlags (folders: readonly string[]): string[] {
  if (!canConfine()) return []
  const stripped = inheritedFolder()
  const code = CODE.map((path) => realpathSync(join(SERVER_DIR, path)))
  const readable = [...code, ...stripped === null ? [] : [stripped], ...folders]
  return [PERMISSION, ...START_THREADS, '--no-experimental-sqlite', ...readable.map((path) => `--allow-fs-read=${path}`)]
}
