import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import { type Timing, answer, time } from './process.ts'

/** Number of bytes that each thread hashes from memory. There are as many threads as cores. */
export interface HashMemoryInput { bytes: number }

const BUFFER_BYTES = 32 * 1024 ** 2
/** Small enough to stay in the processor's cache between two hashes. */
const PIECE_BYTES = 512 * 1024

/** Computes CRC32, MD5 and SHA-1 of this number of bytes, only with Node's own functions. */
function hashMemory (bytes: number): void {
  const buffer = Buffer.alloc(BUFFER_BYTES, 'memory')
  const md5 = createHash('md5')
  const sha1 = createHash('sha1')
  let crc = 0
  for (let done = 0; done < bytes; done += PIECE_BYTES) {
    const start = done % BUFFER_BYTES
    const piece = buffer.subarray(start, start + Math.min(PIECE_BYTES, bytes - done))
    crc = crc32(piece, crc)
    md5.update(piece)
    sha1.update(piece)
  }
  md5.digest()
  sha1.digest()
}

function runThread (bytes: number) {
  const worker = new Worker(new URL(import.meta.url), { workerData: bytes })
  const once = (event: 'message' | 'exit') => new Promise<void>((resolve) => worker.once(event, () => { resolve() }))
  return { ready: once('message'), ended: once('exit'), go: () => { worker.postMessage('go') } }
}

if (isMainThread) {
  answer<HashMemoryInput, Timing>(async ({ bytes }) => {
    const threads = Array.from({ length: availableParallelism() }, () => runThread(bytes))
    await Promise.all(threads.map(({ ready }) => ready))
    return await time(() => {
      for (const { go } of threads) go()
      return Promise.all(threads.map(({ ended }) => ended))
    })
  })
} else {
  parentPort?.once('message', () => { hashMemory(workerData as number) })
  parentPort?.postMessage('ready')
}
