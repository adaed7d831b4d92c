import { availableParallelism } from 'node:os'
import { toError } from './hash-errors.ts'
import type { FileRequest } from './hash-file.ts'
import { DEFAULT_LIMITS } from '../../core/archives/limits.ts'
import { ProcessPool } from './threads/process-pool.ts'
import type { Job } from './threads/protocol.ts'
import type { RetroAchievementsHash } from './hash-types.ts'
import type { ArchiveLimits, Exclusions } from '../../core/archives/types.ts'
import type { FileHashes, GroupHashes, HashSettings, MemberChoice } from './hash-types.ts'

export type { ArchiveLimits, Exclusions } from '../../core/archives/types.ts'
export type { FileHashes, GroupHashes, MemberChoice } from './hash-types.ts'
export type { RetroAchievementsHash } from './hash-types.ts'

export interface HasherOptions {
  /** Default: one for each core. */
  threads?: number
  /** Members of archives that count for nothing. */
  excluded?: Exclusions
  /** Those left out keep their defaults: 100,000 entries, 64 GiB, ratio 1,000 beyond 10 MiB, 60 s and 1 s per 4 MiB. */
  limits?: Partial<ArchiveLimits>
}

export interface HashOptions {
  signal?: AbortSignal
  /** Default `all`; files in a folder are hashed with `largest`. */
  members?: MemberChoice
  /** A console's number at RetroAchievements: the file is also hashed by the rule of that. */
  console?: number
  /** Its content is not read, for this reason: the file counts with its own bytes. */
  raw?: string
}

export interface GroupOptions {
  signal?: AbortSignal
  /** By position: why the content of a file is not read, as for a single one. */
  raw?: readonly (string | undefined)[]
}

/** A path as a string, or as the bytes of a name that is not valid UTF-8. Links are to be resolved before. */
export type HashPath = string | Uint8Array

export interface Hasher {
  /**
   * CRC32, MD5 and SHA-1 of a file in one reading: of its bytes, of the content of a single .gz, .bz2 or .xz (empty
   * strings when that is broken), or of an archive's members (of its own bytes, when they cannot be read).
   * Rejects with the error of the file system (`ENOENT`, `EACCES`, `ELOOP` for a link, …), with the signal's reason,
   * or with a `HashCrashError` when the process or thread that read the file died.
   */
  hashFile (path: HashPath, options?: HashOptions): Promise<FileHashes>
  /**
   * The files of a folder, each by itself and all as one in the order given; of an archive only the largest member
   * counts. Each file is read once. Files that fail leave their error in the result; rejects as `hashFile` otherwise.
   */
  hashGroup (paths: readonly HashPath[], options?: GroupOptions): Promise<GroupHashes>
  /**
   * What RetroAchievements knows a file by: a hash by the rule of its console, which is given by its number there.
   * An archive counts as its largest member, a playlist as its first disc; of a disc image little is read, and
   * tracks that a sheet names are found in its folder. Rejects as `hashFile` does.
   */
  hashRetroAchievements (
    path: string, console: number, options?: { signal?: AbortSignal }
  ): Promise<RetroAchievementsHash>
  /** Ends the process; what is not finished is rejected. */
  close (): Promise<void>
}

/** Hashes files in threads of a process of its own, which is started when first needed and replaced when it dies. */
export function createHasher (options: HasherOptions = {}): Hasher {
  const { threads = availableParallelism(), excluded = {}, limits = {} } = options
  const pool = new ProcessPool(threads)
  const all: HashSettings = { excluded, limits: { ...DEFAULT_LIMITS, ...limits }, members: 'all' }
  // The same object for all jobs, which a message to the process then has once.
  const settings: Record<MemberChoice, HashSettings> = { all, largest: { ...all, members: 'largest' } }
  return {
    async hashFile (path, { signal, members = 'all', console, raw } = {}) {
      const job: Job = {
        kind: 'file',
        files: [toRequest(path, raw)],
        settings: settings[members],
        ...(console === undefined ? {} : { console })
      }
      const result = await pool.run(job, signal)
      if (result.kind !== 'file') throw new TypeError('a file was asked for and a group was answered')
      return result.hashes
    },
    async hashGroup (paths, { signal, raw = [] } = {}) {
      const files = paths.map((path, index) => toRequest(path, raw[index]))
      const job: Job = { kind: 'group', files, settings: settings.largest }
      const result = await pool.run(job, signal)
      if (result.kind !== 'group') throw new TypeError('a group was asked for and a file was answered')
      return { files: result.files.map((one) => 'error' in one ? toError(one.error) : one), combined: result.combined }
    },
    async hashRetroAchievements (path, console, { signal } = {}) {
      const job: Job = { kind: 'retroachievements', files: [{ path }], console, settings: settings.largest }
      const result = await pool.run(job, signal)
      if (result.kind !== 'retroachievements') throw new TypeError('another kind of job was answered')
      return result.hash
    },
    close: () => pool.close()
  }
}

const toRequest = (path: HashPath, raw: string | undefined): FileRequest =>
  ({ path: toPortable(path), ...(raw === undefined ? {} : { raw }) })

/** A Buffer is often a view of a larger one, all of which would be copied to the thread. */
function toPortable (path: HashPath): HashPath {
  return typeof path === 'string' ? path : Uint8Array.from(path)
}
