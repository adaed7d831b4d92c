import type { Hashes } from '../../../core/archives/types.ts'
import type { FileRequest } from '../hash-file.ts'
import type { FileHashes, HashSettings, RetroAchievementsHash } from '../hash-types.ts'

/** A job of a thread: hash one file, several files as one, or one file by the rule of a console. */
export interface Job {
  kind: 'file' | 'group' | 'retroachievements'
  files: FileRequest[]
  /** The number of the console at RetroAchievements, for a job of this kind. */
  console?: number
  settings: HashSettings
}

export interface ThreadSettings {
  /** The current job and file, its deadline and the cancelled jobs, which both sides see without a message. */
  shared: SharedArrayBuffer
  /** The number of the thread that holds an archive in memory, 0 for none; shared by all threads. */
  memoryOwner: SharedArrayBuffer
  /** The thread's own number, from 1. */
  number: number
}

/** The fields of an error, because a message keeps only some of them. */
export interface ErrorFields {
  message: string
  code?: string
  errno?: number
  syscall?: string
  path?: string
}

export type JobSuccess =
  | { kind: 'file', hashes: FileHashes }
  | { kind: 'group', files: (FileHashes | { error: ErrorFields })[], combined: Hashes }
  | { kind: 'retroachievements', hash: RetroAchievementsHash }

export type JobResult = JobSuccess | { kind: 'error', error: ErrorFields }

/** The most jobs in one message. */
export const BATCH_JOBS = 64

/** The longest time that a thread works on one message before it returns the jobs it has not started. */
export const BATCH_MS = 20

/** The value of `JOB` if the thread is idle. */
export const IDLE = -1

/** Fields of the shared memory. One field for each job of the batch follows; it is 1 if the job is cancelled. */
export const JOB = 0
export const FILE = 1
/** The deadline in seconds of `readSteadyClock` (core/archives/limits.ts); 0 if there is none. */
export const DEADLINE = 2
export const CANCELLED = 3

export function createSharedState (): Int32Array<SharedArrayBuffer> {
  const state = new Int32Array(new SharedArrayBuffer((CANCELLED + BATCH_JOBS) * Int32Array.BYTES_PER_ELEMENT))
  state[JOB] = IDLE
  return state
}

export function holdsMemory (memoryOwner: Int32Array, thread: number): boolean {
  return Atomics.load(memoryOwner, 0) === thread
}

export function releaseMemory (memoryOwner: Int32Array, thread: number): void {
  if (Atomics.compareExchange(memoryOwner, 0, thread, 0) === thread) Atomics.notify(memoryOwner, 0)
}

/** A message to the process with the threads. */
export interface ToProcess {
  jobs: { id: number, job: Job }[]
  /** Jobs whose results are no longer needed. */
  cancelled: number[]
}

/** A message from this process; empty at first, when the process is ready. */
export type FromProcess = { id: number, result: JobResult }[]

/**
 * The memory limit of the process in MiB: the largest archive that libarchive takes (512), the same again for unpacking
 * it, and the threads with their data.
 */
export const MEMORY_MIB = 1536

/** The exit code of the process after it exceeded the limit. */
export const OUT_OF_MEMORY = 12
