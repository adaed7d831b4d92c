import { once } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { TagsAnswer, TagsJob } from './protocol.ts'

const THREAD = new URL('./thread.ts', import.meta.url)
/** Maximum size of a file whose tags are read. */
const FILE_MAX_BYTES = 512 * 1024 ** 2
/** Time limit per file, even on a slow disk. */
const FILE_MS = 60_000
/** Limit of the thread's JavaScript heap in MiB. */
const HEAP_MIB = 128
/** Idle time after which the thread ends. */
const IDLE_MS = 10_000

/**
 * Reads the tags of audio files one after the other in a separate thread. A file that blocks a parser forever, or takes
 * all its memory, fails alone.
 */
export function createTagReader () {
  const queue = new PQueue({ concurrency: 1 })
  const closing = new AbortController()
  let thread: Worker | null = null
  let timer: NodeJS.Timeout | undefined

  async function end (): Promise<void> {
    clearTimeout(timer)
    const ended = thread
    thread = null
    await ended?.terminate()
  }

  async function requestTags (handle: FileHandle, name: string, size: number): Promise<TagsAnswer> {
    clearTimeout(timer)
    const worker = thread ??= new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } })
    const job: TagsJob = { handle, file_name: name, file_size_bytes: size }
    const signal = AbortSignal.any([AbortSignal.timeout(FILE_MS), closing.signal])
    try {
      worker.postMessage(job, [handle])
      const [answer] = await once(worker, 'message', { signal }) as [TagsAnswer]
      timer = setTimeout(() => { void end() }, IDLE_MS).unref()
      return answer
    } catch {
      await end()
      closing.signal.throwIfAborted()
      return null
    }
  }

  return {
    /**
     * Reads an open file and closes it.
     *
     * @returns null if the tags cannot be read
     */
    read: (handle: FileHandle, name: string): Promise<TagsAnswer> => queue.add(async () => {
      try {
        closing.signal.throwIfAborted()
        const { size } = await handle.stat()
        // From here on the thread owns the handle.
        if (size <= FILE_MAX_BYTES) return await requestTags(handle, name, size)
        return null
      } finally {
        await handle.close().catch(() => {})
      }
    }),

    async close (): Promise<void> {
      closing.abort()
      await end()
    }
  }
}
export type TagReader = ReturnType<typeof createTagReader>
