import { setPriority } from 'node:os'
import { loadConfig } from './config.ts'
import { keepCompiledCode } from './supervisor-compiled.ts'

/** Entry of the process that compiles the server once for all later starts, at leisure. */
setPriority(19)
const { config } = loadConfig()
await import('./server.ts')
keepCompiledCode(config.data_dir)
process.exit(0)
