import type { ArchiveLimits, ArchiveMember, Exclusions, Hashes } from '../../core/archives/types.ts'

/** What RetroAchievements knows a file by. */
export interface RetroAchievementsHash {
  /** 32 hexadecimal digits; null for a file that is none for the console, or that could not be read. */
  ra_hash: string | null
  /** Why it could not be read. */
  warning?: string
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

/** How a file's content is chosen: every member of an archive, or only the largest (files inside a folder). */
export type MemberChoice = 'all' | 'largest'

export interface HashSettings {
  excluded: Exclusions
  limits: ArchiveLimits
  members: MemberChoice
}
