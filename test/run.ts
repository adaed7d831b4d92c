import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/** The compile cache, which all processes share. This process compiles the server for all others. */
const COMPILED = join(import.meta.dirname, '..', 'node_modules', '.cache', 'svc-test')

process.env.NODE_COMPILE_CACHE = COMPILED
enableCompileCache(COMPILED)
await import('./suite.ts')
