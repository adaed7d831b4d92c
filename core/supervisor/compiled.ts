import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { runDir } from './run-dir.ts'
import { VERSION } from '../version.ts'

/**
 * Compiled code is kept between starts, which halves their time and saves each process the memory of what removes
 * types: in the data directory, where no other user can plant any. Writing all of it takes seconds, and many on a slow
 * disk, so a process of its own does it once, after the first start.
 */
const folderOf = (dataDir: string) => join(runDir(dataDir), 'compiled')
const markOf = (dataDir: string) => join(folderOf(dataDir), 'complete')
const RELEASE = `svc ${VERSION}, node ${process.version}`

/** More than it ever takes. */
export const COMPILED_MAX_BYTES = 64 * 1024 ** 2

/** Whether this release's code is all there. */
export function hasCompiledCode (dataDir: string): boolean {
  try {
    return readFileSync(markOf(dataDir), 'utf8') === RELEASE
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw err
  }
}

/** Throws away what another release left. Only for the holder of the lock. */
export function clearOldCompiledCode (dataDir: string): void {
  if (!hasCompiledCode(dataDir)) rmSync(folderOf(dataDir), { recursive: true, force: true })
}

/** The environment of a process that uses it, if it is there; or that makes it when `makes` is true. */
export function compiledCodeEnvironment (dataDir: string, makes = false): NodeJS.ProcessEnv {
  return makes || hasCompiledCode(dataDir)
    ? { ...process.env, NODE_COMPILE_CACHE: folderOf(dataDir) }
    : { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
}

/** Writes down what this process compiled, for those that start after it. */
export function keepCompiledCode (dataDir: string): void {
  flushCompileCache()
  writeFileSync(markOf(dataDir), RELEASE)
}
