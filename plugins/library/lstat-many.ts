import { Worker } from 'node:worker_threads'
import { type Lstat, type PathFacts, lstat } from './lstat.ts'

const THREAD = new URL('./lstat-thread.ts', import.meta.url)
/** For so many the start of a thread is worth its while. */
const MANY = 2_000
/** A local disk answers in a hundredth of a millisecond. */
const SLOW_MS = 0.1
/** A busy machine has a thread wait now and then. */
const GRACE_MS = 200
/** In MiB; what it allocates is gone with each message. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

/** What the thread answers of each path: one of the kinds, or that it could not tell; size, time and inode. */
export const FIELDS = 4
export const KINDS: readonly PathFacts['kind'][] = ['file', 'folder', 'other']
export const UNKNOWN = -1n
/** What the thread is told: when paths take it longer on the average, and that for a while, it ends. */
export interface ThreadSettings { slowMs: number, graceMs: number }
/** Between paths of one message, which is much cheaper as one text. */
export const SEPARATOR = '\0'

interface Asked { path: string, resolve: (facts: PathFacts | Promise<PathFacts>) => void }

function readFacts (all: BigInt64Array, index: number): PathFacts | null {
  const at = index * FIELDS
  const kind = KINDS[Number(all[at])]
  if (kind === undefined) return null
  return { kind, size: Number(all[at + 1]), mtime: Number(all[at + 2]), inode: String(all[at + 3]) }
}

/**
 * Looks at paths for somebody who may ask for very many: a thread does it then, many paths by each message, which takes
 * less than half of the processor and none of this thread's time. It looks at one after the other: of a network share,
 * and of a disk that has to search, many are asked for at once, without it.
 */
export function createManyLstats (
  settings: ThreadSettings = { slowMs: SLOW_MS, graceMs: GRACE_MS }
): { lstat: Lstat, expect: (count: number) => void, close: () => Promise<void> } {
  let expected = 0
  let thread: Worker | null = null
  let isReady = false
  let gathered: Asked[] = []
  /** The messages that are not answered, in order. */
  const sent: Asked[][] = []

  /** Whoever waits is answered without the thread. */
  function giveUp (): void {
    isReady = false
    for (const { path, resolve } of [...sent.splice(0).flat(), ...gathered.splice(0)]) resolve(lstat(path))
  }

  function finishRead (all: BigInt64Array): void {
    for (const [index, { path, resolve }] of (sent.shift() ?? []).entries()) {
      // What could not be looked at says why when it is asked again.
      resolve(readFacts(all, index) ?? lstat(path))
    }
  }

  function start (): Worker {
    const worker = new Worker(THREAD, { workerData: settings, resourceLimits: HEAP })
    worker.on('message', (all: BigInt64Array | null) => {
      if (all === null) isReady = true
      else finishRead(all)
    })
    worker.on('error', giveUp)
    worker.on('exit', giveUp)
    return worker
  }

  function send (): void {
    if (gathered.length === 0) return
    sent.push(gathered)
    thread?.postMessage(gathered.map(({ path }) => path).join(SEPARATOR))
    gathered = []
  }

  function expect (count: number): void {
    expected += count
    if (expected >= MANY) thread ??= start()
  }

  return {
    /** Says how many paths are about to be asked for, so that the thread is ready by then. */
    expect,

    lstat (path) {
      expect(1)
      if (!isReady) return lstat(path)
      return new Promise((resolve) => {
        // What is asked for in one turn of the event loop travels together.
        if (gathered.push({ path, resolve }) === 1) setImmediate(send)
      })
    },

    async close () {
      giveUp()
      await thread?.terminate()
    }
  }
}
