import { type Rom, type RomFile, contentHashes } from '@svc/plugin-sdk'

/** Maximum length of a name that Playmatch accepts. */
const NAME_LENGTH = 512

/** A lookup of a ROM's file at Playmatch. */
export interface FileQuery {
  fileName: string
  fileSize: number
  md5: string | undefined
  sha1: string | undefined
  crc: string | undefined
}

/**
 * Picks the file that represents a ROM: the largest at the top level, or the first by path of equal ones. A set of
 * discs is represented by disc 1.
 */
export function toFileQuery (rom: Rom): FileQuery | undefined {
  const [file] = rom.files
    .filter((candidate) => candidate.is_top_level && candidate.file_size_bytes > 0)
    .toSorted((a, b) => b.file_size_bytes - a.file_size_bytes || (pathOf(a) < pathOf(b) ? -1 : 1))
  if (file === undefined) return undefined
  const { md5_hash: md5, sha1_hash: sha1, crc_hash: crc } = contentHashes(file)
  return { fileName: file.file_name.slice(0, NAME_LENGTH), fileSize: file.file_size_bytes, md5, sha1, crc }
}

const pathOf = (file: RomFile) => `${file.file_path}/${file.file_name}`
