import { lstatSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { kindOf } from './lstat.ts'
import { FIELDS, KINDS, UNKNOWN } from './lstat-many.ts'

/** One after the other: that takes a third of what it takes to have each done in the background. */
function lookAt (paths: readonly string[]): BigInt64Array<ArrayBuffer> {
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

parentPort?.on('message', (paths: string[]) => {
  const all = lookAt(paths)
  parentPort?.postMessage(all, [all.buffer])
})
// It is ready.
parentPort?.postMessage(null)
