import { parentPort, workerData } from 'node:worker_threads'
import { toFields } from '../hash-errors.ts'
import { hashFile, hashGroup, type FileRequest } from '../hash-file.ts'
import { CancelledError, type Watch } from '../../../core/archives/limits.ts'
import { ContentCache } from '../content-cache.ts'
import { isWholeFile } from '../retroachievements/consoles.ts'
import { hashContent, hashRetroAchievements } from '../retroachievements/hash.ts'
import {
  BATCH_MS, CANCELLED, DEADLINE, FILE, holdsMemory, IDLE, JOB,
  type Job, type JobResult, type ThreadSettings
} from './protocol.ts'
import type { FileHashes, HashSettings, RetroAchievementsHash } from '../hash-types.ts'

const settings = workerData as ThreadSettings
const state = new Int32Array(settings.shared)
const memoryOwner = new Int32Array(settings.memoryOwner)
const MEMORY_WAIT_MS = 100

parentPort?.on('message', (jobs: Job[]) => {
  runBatch(jobs).then((results) => parentPort?.postMessage(results), (error: unknown) => {
    throw error
  })
})

/** Runs as many jobs as there is time for; the pool sends the others again, perhaps to an idle thread. */
async function runBatch (jobs: readonly Job[]): Promise<JobResult[]> {
  const started = performance.now()
  const results: JobResult[] = []
  for (const [index, job] of jobs.entries()) {
    Atomics.store(state, DEADLINE, 0)
    Atomics.store(state, FILE, 0)
    Atomics.store(state, JOB, index)
    results.push(await runJob(job, watchJob(index)))
    if (performance.now() - started > BATCH_MS || holdsMemory(memoryOwner, settings.number)) break
  }
  Atomics.store(state, JOB, IDLE)
  return results
}

function watchJob (index: number): Watch {
  const isCancelled = () => Atomics.load(state, CANCELLED + index) === 1
  return {
    isCancelled,
    setDeadline (at) {
      Atomics.store(state, DEADLINE, Math.ceil(at / 1000))
    },
    reserveMemory () {
      for (;;) {
        const owner = Atomics.compareExchange(memoryOwner, 0, 0, settings.number)
        if (owner === 0 || owner === settings.number) return
        if (isCancelled()) throw new CancelledError('hashing was cancelled')
        Atomics.wait(memoryOwner, 0, owner, MEMORY_WAIT_MS)
      }
    }
  }
}

async function runJob ({ kind, files, console, settings }: Job, watch: Watch): Promise<JobResult> {
  try {
    const [file] = files
    if (kind === 'retroachievements' && file && console !== undefined) {
      return { kind, hash: await hashFor(console, file, settings, watch) }
    }
    if (kind === 'file' && file) return { kind, hashes: await hashOne(file, console, settings, watch) }
    const group = await hashGroup(files, settings, watch, (index) => {
      Atomics.store(state, DEADLINE, 0)
      Atomics.store(state, FILE, index)
    })
    return {
      kind: 'group',
      files: group.files.map((one) => one instanceof Error ? { error: toFields(one) } : one),
      combined: group.combined
    }
  } catch (error) {
    return { kind: 'error', error: toFields(error) }
  }
}

/**
 * Hashes one file. With a console, makes both kinds of hashes at once, because a second request costs more than the
 * hash.
 */
async function hashOne (
  file: FileRequest, console: number | undefined, settings: HashSettings, watch: Watch
): Promise<FileHashes> {
  if (console === undefined) return await hashFile(file, settings, watch)
  const contentCache = new ContentCache()
  const hashes = await hashFile(file, settings, watch, contentCache)
  // For a member that counts as a whole, the hash is its MD5, which is already known.
  const { memberSize } = contentCache
  if (hashes.warning !== undefined || (memberSize !== null && isWholeFile(console, memberSize))) {
    return hashes
  }
  try {
    const { bytes } = contentCache
    const known = bytes === null ? null : await hashContent(bytes, Buffer.from(file.path).toString(), console)
    return { ...hashes, retroachievements: known ?? await hashFor(console, file, settings, watch) }
  } catch (error) {
    if (error instanceof CancelledError) throw error
    const warning = error instanceof Error ? error.message : String(error)
    return { ...hashes, retroachievements: { ra_hash: null, warning } }
  }
}

/** Computes the RetroAchievements hash, but does not read a file again that took too long. */
async function hashFor (
  console: number, { path, raw }: FileRequest, settings: HashSettings, watch: Watch
): Promise<RetroAchievementsHash> {
  if (raw !== undefined) return { ra_hash: null, warning: raw }
  return await hashRetroAchievements(Buffer.from(path).toString(), console, settings, watch)
}
