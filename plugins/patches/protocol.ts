/** An open file. Its opener closes the file after the thread is done. */
export interface OpenFile { fd: number, size: number }

/** A job of the thread. */
export interface PatchJob {
  patch: OpenFile
  base: OpenFile
  baseName: string
  /** An empty file for the base of an archive; null if the base is no archive. */
  unpacked: number | null
  output: number
  maxBytes: number
  roomBytes: number
}

/** What was patched: the name of the base, as in its archive, and whether the patch was made for it. */
export interface Patched { isValid: boolean, baseName: string }

/** The result of a job, or the problem with the input. */
export type PatchResult = Patched | { refused: string } | { isFull: true }
