/** A file in an archive, or one that is added to one. */
export interface Member {
  /** The path in the archive, with forward slashes. */
  name: string
  size: number
  /** The SHA-1 of the content, if the content was read. */
  sha1?: string
}

/** A job of the thread. */
export type ArchiveJob =
  | { kind: 'list', archive: string }
  | { kind: 'digest', archive: string }
  /** Unpacks each member to a file of the folder, which exists and is empty. */
  | { kind: 'unpack', archive: string, folder: string }
  | { kind: 'pack', files: readonly { path: string, name: string }[], archive: string }

/** The result of a job: the members of the archive, or why the job cannot be done. */
export type ArchiveResult = { members: Member[] } | { refused: string }
