import type { Hashes, RomFile } from './metadata.ts'

/**
 * The hashes that catalogues know a file by: of a CHD that of what it contains, of an archive those of its largest
 * member, of any other file its own.
 */
export function contentHashes (file: RomFile): Hashes {
  if (file.chd_sha1_hash !== undefined) return { sha1_hash: file.chd_sha1_hash }
  const [largest = file] = (file.archive_members ?? [])
    .filter((member) => member.size > 0)
    .toSorted((a, b) => b.size - a.size)
  return { crc_hash: largest.crc_hash, md5_hash: largest.md5_hash, sha1_hash: largest.sha1_hash }
}
