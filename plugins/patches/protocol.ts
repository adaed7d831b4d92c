/** An open file. Its opener closes the file after the thread is done. */
export interface OpenFile { fd: number, size: number }

/** A job of the thread. */
export interface PatchJob { patch: OpenFile, base: OpenFile, output: number, maxBytes: number, roomBytes: number }

/** The result of a job: whether the base was the right one, or the problem with the input. */
export type PatchResult = { isValid: boolean } | { refused: string } | { isFull: true }
