/** Lower-case hex of 8, 32 and 40 digits; empty when not known. */
export interface Hashes { crc_hash: string, md5_hash: string, sha1_hash: string }

/** One file in an archive. */
export interface ArchiveMember extends Hashes {
  name: string
  /** Bytes, unpacked. */
  size: number
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

export const EMPTY_HASHES: Hashes = { crc_hash: '', md5_hash: '', sha1_hash: '' }
