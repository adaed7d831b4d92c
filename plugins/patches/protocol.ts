/** An open file; whoever opened it closes it, and not before the thread is done. */
export interface OpenFile { fd: number, size: number }

/** What a thread is told. */
export interface PatchJob { patch: OpenFile, base: OpenFile, output: number, maxBytes: number, roomBytes: number }

/** What it answers: whether the base was the right one, or what is wrong with what was sent. */
export type PatchResult = { isValid: boolean } | { refused: string } | { isFull: true }
