import { lstatSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { kindOf } from './lstat.ts'
import { FIELDS, KINDS, SEPARATOR, type ThreadSettings, UNKNOWN } from './lstat-many.ts'

/** Reads paths one by one with the synchronous call, which takes a third of the time of asynchronous calls. */
function lstatAll (paths: readonly string[]): BigInt64Array<ArrayBuffer> {
  const all = new BigInt64Array(paths.length * FIELDS)
  for (const [index, path] of paths.entries()) all.set(factsOf(path), index * FIELDS)
  return all
}

function factsOf (path: string): bigint[] {
  try {
    const stats = lstatSync(path, { bigint: true })
    return [BigInt(KINDS.indexOf(kindOf(stats))), stats.size, stats.mtimeMs, stats.ino]
  } catch {
    return [UNKNOWN]
  }
}

function serve (port: MessagePort, { slowMs, graceMs }: ThreadSettings): void {
  let lateMs = 0
  port.on('message', (message: string) => {
    const paths = message.split(SEPARATOR)
    const startedAt = performance.now()
    const all = lstatAll(paths)
    port.postMessage(all, [all.buffer])
    lateMs = Math.max(0, lateMs + performance.now() - startedAt - paths.length * slowMs)
    if (lateMs > graceMs) port.close()
  })
  // Report that the thread is ready.
  port.postMessage(null)
}

// This module is also imported outside of a thread, to compile it ahead.
if (parentPort !== null) serve(parentPort, workerData as ThreadSettings)
