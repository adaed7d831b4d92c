/** A key of the file and its new value, which JSON can express; undefined deletes the key. */
export interface Change { path: readonly string[], value: unknown }

/** Thrown if a change cannot be made to the text. */
export class UnchangeableError extends Error {
  override readonly name = 'UnchangeableError'
}

export type Content = Record<string, unknown>

export const isContent = (value: unknown): value is Content =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
