import { setPriority } from 'node:os'
import { keepCompiledCode } from './compiled.ts'

/**
 * Entry of the process that compiles the server once for all later starts, at leisure; its argument is the data
 * directory.
 */
setPriority(19)
const [, , dataDir = ''] = process.argv
await import('../server.ts')
keepCompiledCode(dataDir)
process.exit(0)
