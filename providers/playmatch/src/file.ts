import { type Rom, type RomFile, contentHashes } from '@svc/plugin-sdk'

/** Longer names are refused. */
const NAME_LENGTH = 512

/** A ROM's file as Playmatch is asked about it. */
export interface FileQuery {
  fileName: string
  fileSize: number
  md5: string | undefined
  sha1: string | undefined
  crc: string | undefined
}

/** The file that stands for a ROM: the largest on top, of equal ones the first by its path. So a set is its disc 1. */
export function toFileQuery (rom: Rom): FileQuery | undefined {
  const [file] = rom.files
    .filter((candidate) => candidate.is_top_level && candidate.file_size_bytes > 0)
    .toSorted((a, b) => b.file_size_bytes - a.file_size_bytes || (pathOf(a) < pathOf(b) ? -1 : 1))
  if (file === undefined) return undefined
  const { md5_hash: md5, sha1_hash: sha1, crc_hash: crc } = contentHashes(file)
  return { fileName: file.file_name.slice(0, NAME_LENGTH), fileSize: file.file_size_bytes, md5, sha1, crc }
}

const pathOf = (file: RomFile) => `${file.file_path}/${file.file_name}`
