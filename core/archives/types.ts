/** Lower-case hex of 8, 32 and 40 digits; empty when not known. */
export interface Hashes { crc_hash: string, md5_hash: string, sha1_hash: string }

/** One file in an archive. */
export interface ArchiveMember extends Hashes {
  name: string
  /** Bytes, unpacked. */
  size: number
}

/** Members of an archive that are ignored: they are neither hashed nor listed. */
export interface Exclusions {
  /** Base names: an exact name, or a pattern that is tested against the whole base name. */
  names?: readonly (string | RegExp)[]
  /** Endings without the first dot, such as `txt` or `tar.gz`; compared without case. */
  extensions?: readonly string[]
}

/** The resources that an archive may use before it counts as unreadable. */
export interface ArchiveLimits {
  entries: number
  /** Bytes unpacked. */
  totalBytes: number
  /** Bytes unpacked per byte of archive, checked only beyond `ratioFreeBytes`. */
  ratio: number
  ratioFreeBytes: number
  /** One second is added for every 4 MiB of archive, because slow disks need it for large ones. */
  timeoutMs: number
}

export const EMPTY_HASHES: Hashes = { crc_hash: '', md5_hash: '', sha1_hash: '' }
