/** What a DAT says about a dump: `nodump` has no hashes, because nobody has dumped the chip. */
export const FILE_STATUSES = ['good', 'verified', 'baddump', 'nodump'] as const
export type FileStatus = typeof FILE_STATUSES[number]

/** The facts that a DAT states about itself. Absent facts are empty texts. */
export interface DatHeader {
  name: string
  description: string
  version: string
  date: string
  author: string
}

/** One file of a game. Hashes are lower-case hex; empty if the DAT does not state them. */
export interface DatFile {
  name: string
  /** Bytes; null if the DAT does not state them. */
  size: number | null
  crc: string
  md5: string
  sha1: string
  status: FileStatus
  /** The name of the same file in the set of the parent; null if the file belongs to this game alone. */
  merge: string | null
  /** True for a CHD, whose hash is the SHA-1 in its header. */
  is_disk: boolean
}

/** One game of a DAT, with at least one file. */
export interface DatGame {
  name: string
  /** The name of the game of which this one is a variant. */
  clone_of: string | null
  /** The id of the game in this DAT, and the id of its parent: No-Intro refers to parents by id. */
  id: string | null
  clone_of_id: string | null
  files: DatFile[]
}

/** One part of a DAT, in the order of the file. */
export type DatRecord = { header: DatHeader } | { game: DatGame }

/** Parses the text of a DAT piece by piece. */
export interface DatParser {
  /** Parses a piece, and adds the records that it completes. @throws DatError */
  write (text: string): void
  /** @throws DatError if the text ends too early */
  close (): void
  records: DatRecord[]
}

/** An error for a text that is no DAT or exceeds a limit. The message states the line, the problem and the remedy. */
export class DatError extends Error {
  override readonly name = 'DatError'
  /** Counted from 1. */
  readonly line: number

  constructor (line: number, problem: string, remedy: string, options?: ErrorOptions) {
    super(`line ${line}: ${problem}; ${remedy}`, options)
    this.line = line
  }
}

export const EMPTY_HEADER: DatHeader = { name: '', description: '', version: '', date: '', author: '' }
