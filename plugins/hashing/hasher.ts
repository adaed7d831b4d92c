import { availableParallelism } from 'node:os'
import { toError } from './hash-errors.ts'
import type { FileRequest } from './hash-file.ts'
import { DEFAULT_LIMITS } from '../../core/archives/limits.ts'
import { ProcessPool } from './threads/process-pool.ts'
import type { Job } from './threads/protocol.ts'
import type { ArchiveLimits, Exclusions } from '../../core/archives/types.ts'
import type { FileHashes, GroupHashes, HashSettings, MemberChoice, RetroAchievementsHash } from './hash-types.ts'

export type { FileHashes, GroupHashes, MemberChoice, RetroAchievementsHash } from './hash-types.ts'

export interface HasherOptions {
  /** Folders without symbolic links; no file elsewhere can be read. */
  folders: readonly string[]
  /** Default: one for each core. */
  threads?: number
  /** Members of archives that are not hashed. */
  excluded?: Exclusions
  /**
   * Limits without a value have defaults: 100,000 entries, 64 GiB, ratio 1,000 beyond 10 MiB, 60 s and 1 s per 4 MiB.
   */
  limits?: Partial<ArchiveLimits>
}

export interface HashOptions {
  signal?: AbortSignal
  /** Default: `all`; files in a folder are hashed with `largest`. */
  members?: MemberChoice
  /** The number of a console at RetroAchievements, by whose rule the file is hashed too. */
  console?: number
  /** The reason not to read the content: the file counts with its own bytes. */
  raw?: string
}

export interface GroupOptions {
  signal?: AbortSignal
  /** The reasons not to read the content of files, by position, as for a single file. */
  raw?: readonly (string | undefined)[]
}

/** A path as a string, or as the bytes of a name that is not valid UTF-8. Links must be resolved before. */
export type HashPath = string | Uint8Array

export interface Hasher {
  /**
   * Computes CRC32, MD5 and SHA-1 of a file in one reading. Hashes its bytes; or the content of a single .gz, .bz2 or
   * .xz (empty strings if this is broken); or the members of an archive (its own bytes if they cannot be read). Rejects
   * with the error of the file system (`ENOENT`, `EACCES`, `ELOOP` for a link, …), with the signal's reason, or with a
   * `HashCrashError` if the process or thread that read the file died.
   */
  hashFile (path: HashPath, options?: HashOptions): Promise<FileHashes>
  /**
   * Hashes the files of a folder, each by itself and all together in the given order; of an archive only the largest
   * member counts. Each file is read once. Files that fail leave their error in the result; rejects as `hashFile`
   * otherwise.
   */
  hashGroup (paths: readonly HashPath[], options?: GroupOptions): Promise<GroupHashes>
  /**
   * Computes the hash of a file at RetroAchievements, by the rule of a console, given by its number there. An archive
   * counts as its largest member, a playlist as its first disc. Only a small part of a disc image is read, and tracks
   * that a sheet names are found in its folder. Rejects as `hashFile` does.
   */
  hashRetroAchievements (
    path: string, console: number, options?: { signal?: AbortSignal }
  ): Promise<RetroAchievementsHash>
  /** Starts the process now, for files that follow soon. */
  prepare (): void
  /** Ends the process; unfinished work is rejected. */
  close (): Promise<void>
}

/** Hashes files in threads of a process of its own, which is started when first needed and replaced when it dies. */
export function createHasher (options: HasherOptions): Hasher {
  const { folders, threads = availableParallelism(), excluded = {}, limits = {} } = options
  const pool = new ProcessPool(threads, folders)
  const all: HashSettings = { excluded, limits: { ...DEFAULT_LIMITS, ...limits }, members: 'all' }
  // All jobs share these objects, because a message to the process then contains them once.
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
    prepare: () => { pool.prepare() },
    close: () => pool.close()
  }
}

const toRequest = (path: HashPath, raw: string | undefined): FileRequest =>
  ({ path: toPortable(path), ...(raw === undefined ? {} : { raw }) })

/** Copies a Buffer, because it is often a view of a larger one, which would be copied to the thread as a whole. */
function toPortable (path: HashPath): HashPath {
  return typeof path === 'string' ? path : Uint8Array.from(path)
}
