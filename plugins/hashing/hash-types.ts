import type { ArchiveLimits, ArchiveMember, Exclusions, Hashes } from '../../core/archives/types.ts'

/** The hash of a file at RetroAchievements. */
export interface RetroAchievementsHash {
  /** 32 hexadecimal digits; null if the file does not suit the console or could not be read. */
  ra_hash: string | null
  /** The reason why the file could not be read. */
  warning?: string
}

/** The hashes of one file. */
export interface FileHashes extends Hashes {
  /** The SHA-1 in the header of a CHD version 5; null for other files. */
  chd_sha1_hash: string | null
  /** The members of an archive in ASCII order of their names; null unless the hashes are those of the members. */
  archive_members: ArchiveMember[] | null
  /** The hash of the file at RetroAchievements, if a console was given. */
  retroachievements?: RetroAchievementsHash
  /** The reason why the hashes are not those of the content: a broken, encrypted or too large archive. */
  warning?: string
}

/** The files of a group in the given order, each with its hashes or its error. */
export interface GroupHashes {
  files: (FileHashes | Error)[]
  /** The hash over all files together; empty strings if one of them has none. */
  combined: Hashes
}

/** The members of an archive that are hashed: all, or only the largest one (for files inside a folder). */
export type MemberChoice = 'all' | 'largest'

export interface HashSettings {
  excluded: Exclusions
  limits: ArchiveLimits
  members: MemberChoice
}
