import type { Hashes } from '../../../core/archives/types.ts'
import type { FileRequest } from '../hash-file.ts'
import type { RetroAchievementsHash } from '../hash-types.ts'
import type { FileHashes, HashSettings } from '../hash-types.ts'

/** What the pool asks of a thread: one file, several files as one, or one by the rule of a console. */
export interface Job {
  kind: 'file' | 'group' | 'retroachievements'
  files: FileRequest[]
  /** By its number at RetroAchievements, for a job of that kind. */
  console?: number
  settings: HashSettings
}

export interface ThreadSettings {
  /** The job and file at work, its deadline and the cancelled jobs, seen by both sides without a message. */
  shared: SharedArrayBuffer
  /** The number of the thread that holds an archive in memory, 0 for none; the same for all threads. */
  memoryOwner: SharedArrayBuffer
  /** The thread's own number, from 1. */
  number: number
}

/** An error's fields, because a message keeps only some of them. */
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

/** The most jobs one message carries. */
export const BATCH_JOBS = 64

/** How long a thread works on one message before it hands back the jobs it has not begun. */
export const BATCH_MS = 20

/** No job is at work. */
export const IDLE = -1

/** Fields of the shared memory; after the last, one for each job of the batch that is 1 when it is cancelled. */
export const JOB = 0
export const FILE = 1
/** Seconds since 1970, 0 when there is none. */
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

/** What the process with the threads is told. */
export interface ToProcess {
  jobs: { id: number, job: Job }[]
  /** Jobs whose results nobody waits for any more. */
  cancelled: number[]
}

/** What it answers; nothing at first, when it is ready. */
export type FromProcess = { id: number, result: JobResult }[]

/**
 * Memory of the process in MiB: the largest archive that libarchive takes (512), once more for what unpacks it, and the
 * threads with what they hold.
 */
export const MEMORY_MIB = 1536

/** Its exit code when it took more. */
export const OUT_OF_MEMORY = 12
