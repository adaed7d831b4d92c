import type { RetroAchievementsHash } from './retroachievements/hash.ts'

/** Lower-case hex of 8, 32 and 40 digits; empty when not known. */
export interface Hashes { crc_hash: string, md5_hash: string, sha1_hash: string }

/** One file in an archive. */
export interface ArchiveMember extends Hashes {
  name: string
  /** Bytes, unpacked. */
  size: number
}

/** What hashing found out about one file. */
export interface FileHashes extends Hashes {
  /** The SHA-1 in the header of a CHD version 5; null for other files. */
  chd_sha1_hash: string | null
  /** In ASCII order of their names; null unless the hashes are those of an archive's members. */
  archive_members: ArchiveMember[] | null
  /** What RetroAchievements knows it by, when a console was given. */
  retroachievements?: RetroAchievementsHash
  /** Why the hashes are not those of the content: a broken, encrypted or too large archive. */
  warning?: string
}

/** A group's files in the order given, each with its hashes or the error that reading it ended with. */
export interface GroupHashes {
  files: (FileHashes | Error)[]
  /** The running hash over all files; empty strings when one of them has none. */
  combined: Hashes
}

/** Members of an archive that count for nothing: they are neither hashed nor listed. */
export interface Exclusions {
  /** Base names: exact, or a pattern that the whole base name is tested with. */
  names?: readonly (string | RegExp)[]
  /** Endings without the first dot, such as `txt` or `tar.gz`; compared without case. */
  extensions?: readonly string[]
}

/** What an archive may ask of the machine before it counts as unreadable. */
export interface ArchiveLimits {
  entries: number
  /** Bytes unpacked. */
  totalBytes: number
  /** Bytes unpacked per byte of archive, looked at only beyond `ratioFreeBytes`. */
  ratio: number
  ratioFreeBytes: number
  /** To which one second is added for every 4 MiB of archive, so that slow disks can finish large ones. */
  timeoutMs: number
}

/** How a file's content is chosen: every member of an archive, or only the largest (files inside a folder). */
export type MemberChoice = 'all' | 'largest'

export interface HashSettings {
  excluded: Exclusions
  limits: ArchiveLimits
  members: MemberChoice
}

export const EMPTY_HASHES: Hashes = { crc_hash: '', md5_hash: '', sha1_hash: '' }
