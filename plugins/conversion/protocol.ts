/** A file in an archive, or one that is put into one. */
export interface Member {
  /** With forward slashes. */
  name: string
  size: number
  /** Of its content, when that was read. */
  sha1?: string
}

/** What a thread is told. */
export type ArchiveJob =
  | { kind: 'list', archive: string }
  | { kind: 'digest', archive: string }
  /** Each member becomes a file of the folder, which is there and empty. */
  | { kind: 'unpack', archive: string, folder: string }
  | { kind: 'pack', files: readonly { path: string, name: string }[], archive: string }

/** What it answers: what is in the archive, or why that cannot be done. */
export type ArchiveResult = { members: Member[] } | { refused: string }
