import { Worker } from 'node:worker_threads'
import { type Lstat, type PathFacts, lstat } from './lstat.ts'

const THREAD = new URL('./lstat-thread.ts', import.meta.url)
/** Minimum number of paths that justifies the start of a thread. */
const THREAD_FROM = 2_000
/** A local disk answers in a hundredth of a millisecond. */
const SLOW_MS = 0.1
/** On a busy machine a thread sometimes waits. */
const GRACE_MS = 200
/** Heap limits in MiB, because all allocations of a message are garbage after it. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

/** Number of values per path in the thread's reply: index of the kind or UNKNOWN, size, time, inode. */
export const FIELDS = 4
export const KINDS: readonly PathFacts['kind'][] = ['file', 'folder', 'other']
export const UNKNOWN = -1n
/** Limits of the thread. The thread ends when paths take longer than this on average for a while. */
export interface ThreadSettings { slowMs: number, graceMs: number }
/** Separates the paths of one message, because one text is much cheaper than a list. */
export const SEPARATOR = '\0'

interface LstatRequest { path: string, resolve: (facts: PathFacts | Promise<PathFacts>) => void }

function readFacts (all: BigInt64Array, index: number): PathFacts | null {
  const at = index * FIELDS
  const kind = KINDS[Number(all[at])]
  if (kind === undefined) return null
  return { kind, size: Number(all[at + 1]), mtime: Number(all[at + 2]), inode: String(all[at + 3]) }
}

/**
 * Reads the facts of paths for a caller that may ask for very many. For many paths a thread does this, with many paths
 * per message. This takes less than half of the CPU time, and no time of this thread. The thread reads paths one by
 * one. Slow disks and network shares are read without it, many paths at once.
 */
export function createManyLstats (
  settings: ThreadSettings = { slowMs: SLOW_MS, graceMs: GRACE_MS }
): { lstat: Lstat, expect: (count: number) => void, close: () => Promise<void> } {
  let expected = 0
  let thread: Worker | null = null
  let isReady = false
  let waiting: LstatRequest[] = []
  /** Messages without a reply, in order. */
  const sent: LstatRequest[][] = []

  /** Resolves all waiting requests without the thread. */
  function stopThread (): void {
    isReady = false
    for (const { path, resolve } of [...sent.splice(0).flat(), ...waiting.splice(0)]) resolve(lstat(path))
  }

  function finishRead (all: BigInt64Array): void {
    for (const [index, { path, resolve }] of (sent.shift() ?? []).entries()) {
      // Repeat a failed lookup here, because that gives the reason of the failure.
      resolve(readFacts(all, index) ?? lstat(path))
    }
  }

  function start (): Worker {
    const worker = new Worker(THREAD, { workerData: settings, resourceLimits: HEAP })
    worker.on('message', (all: BigInt64Array | null) => {
      if (all === null) isReady = true
      else finishRead(all)
    })
    worker.on('error', stopThread)
    worker.on('exit', stopThread)
    return worker
  }

  function send (): void {
    if (waiting.length === 0) return
    sent.push(waiting)
    thread?.postMessage(waiting.map(({ path }) => path).join(SEPARATOR))
    waiting = []
  }

  function expect (count: number): void {
    expected += count
    if (expected >= THREAD_FROM) thread ??= start()
  }

  return {
    /** Announces a number of requests, so the thread is ready before them. */
    expect,

    lstat (path) {
      expect(1)
      if (!isReady) return lstat(path)
      return new Promise((resolve) => {
        // Requests of one turn of the event loop share one message.
        if (waiting.push({ path, resolve }) === 1) setImmediate(send)
      })
    },

    async close () {
      stopThread()
      await thread?.terminate()
    }
  }
}
