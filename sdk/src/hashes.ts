import type { Hashes, RomFile } from './metadata.ts'

/**
 * Returns the hashes under which catalogues list a file. A CHD yields the hash of its contents, an archive the hashes
 * of its largest member, any other file its own hashes.
 */
export function contentHashes (file: RomFile): Hashes {
  if (file.chd_sha1_hash !== undefined) return { sha1_hash: file.chd_sha1_hash }
  const [largest = file] = (file.archive_members ?? [])
    .filter((member) => member.size > 0)
    .toSorted((a, b) => b.size - a.size)
  return { crc_hash: largest.crc_hash, md5_hash: largest.md5_hash, sha1_hash: largest.sha1_hash }
}
