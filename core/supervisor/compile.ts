import { setPriority } from 'node:os'
import { requireFreeSpace } from '../files/free-space.ts'
import { COMPILED_MAX_BYTES, keepCompiledCode } from './compiled.ts'

/**
 * Entry of the process that compiles the server once for all later starts, at leisure; its argument is the data
 * directory. It ends with 1 when there is no room for that.
 */
setPriority(19)
const [, , dataDir = ''] = process.argv
const hasRoom = await requireFreeSpace(dataDir, COMPILED_MAX_BYTES).then(() => true, () => false)
if (hasRoom) {
  await import('../server.ts')
  keepCompiledCode(dataDir)
}
process.exit(hasRoom ? 0 : 1)
