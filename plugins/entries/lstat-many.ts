import { Worker } from 'node:worker_threads'
import { type Lstat, type PathFacts, lstat, parseFacts, toFactsText } from './lstat.ts'

const THREAD = new URL('./lstat-thread.ts', import.meta.url)
/** Minimum number of paths that justifies the start of a thread: it takes as long as reading this many without it. */
export const THREAD_FROM = 10_000
/** A local disk answers in a hundredth of a millisecond. */
const SLOW_MS = 0.1
/** On a busy machine a thread sometimes waits. */
const GRACE_MS = 200
/** Heap limits in MiB, because all allocations of a message are garbage after it. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

/** The text in place of the facts of a path that cannot be read. */
export const UNREADABLE = ''
/** Limits of the thread. The thread ends when paths take longer than this on average for a while. */
export interface ThreadSettings { slowMs: number, graceMs: number }
/** Separates the paths and facts of one message, because one text is much cheaper than a list. */
export const SEPARATOR = '\0'

/** Returns the facts of paths as texts (`toFactsText`), in their order; {@link UNREADABLE} for an unreadable path. */
export type ReadFacts = (paths: readonly string[]) => Promise<string[]>

export interface ManyLstats {
  lstat: Lstat
  readFacts: ReadFacts
  /** Resolves when a thread reads the facts; pending without one. Until then they take time of the caller's thread. */
  ready: Promise<void>
  /** Announces a number of requests, so the thread is ready before them. */
  expect (count: number): void
  close (): Promise<void>
}

interface LstatRequest { path: string, resolve: (facts: PathFacts | Promise<PathFacts>) => void }
interface FactsRequest { paths: readonly string[], resolve: (facts: string[] | Promise<string[]>) => void }

const readWithoutThread: ReadFacts = (paths) =>
  Promise.all(paths.map((path) => lstat(path).then(toFactsText, () => UNREADABLE)))

/**
 * Reads the facts of paths for a caller that may ask for very many. For many paths a thread does this, with many paths
 * per message. This takes less than half of the CPU time, and no time of this thread. The thread reads paths one by
 * one. Slow disks and network shares are read without it, many paths at once.
 */
export function createManyLstats (settings: ThreadSettings = { slowMs: SLOW_MS, graceMs: GRACE_MS }): ManyLstats {
  let expected = 0
  let thread: Worker | null = null
  let isReady = false
  const ready = Promise.withResolvers<void>()
  let waiting: LstatRequest[] = []
  /** Messages without a reply, in order. */
  const sent: FactsRequest[] = []

  /** Resolves all requests without the thread. */
  function stopThread (): void {
    isReady = false
    for (const { paths, resolve } of sent.splice(0)) resolve(readWithoutThread(paths))
  }

  function start (): Worker {
    const worker = new Worker(THREAD, { workerData: settings, resourceLimits: HEAP })
    worker.on('message', (reply: string | null) => {
      if (reply !== null) {
        sent.shift()?.resolve(reply.split(SEPARATOR))
        return
      }
      isReady = true
      ready.resolve()
    })
    worker.on('error', stopThread)
    worker.on('exit', stopThread)
    return worker
  }

  function readFacts (paths: readonly string[]): Promise<string[]> {
    if (!isReady || paths.length === 0) return readWithoutThread(paths)
    return new Promise((resolve) => {
      sent.push({ paths, resolve })
      thread?.postMessage(paths.join(SEPARATOR))
    })
  }

  /** Reads the paths that {@link Lstat} waits for. */
  async function readWaiting (): Promise<void> {
    const requests = waiting
    waiting = []
    const texts = await readFacts(requests.map(({ path }) => path))
    for (const [index, { path, resolve }] of requests.entries()) {
      const text = texts[index] ?? UNREADABLE
      // Repeat a failed lookup here, because that gives the reason of the failure.
      resolve(text === UNREADABLE ? lstat(path) : parseFacts(text))
    }
  }

  function expect (count: number): void {
    expected += count
    if (expected >= THREAD_FROM) thread ??= start()
  }

  return {
    expect,
    ready: ready.promise,
    readFacts (paths) {
      expect(paths.length)
      return readFacts(paths)
    },

    lstat (path) {
      expect(1)
      if (!isReady) return lstat(path)
      return new Promise((resolve) => {
        // Requests of one turn of the event loop share one message.
        if (waiting.push({ path, resolve }) === 1) setImmediate(() => { void readWaiting() })
      })
    },

    async close () {
      stopThread()
      await thread?.terminate()
    }
  }
}
