import type { ErrorFields } from './threads/protocol.ts'

const CODE = 'ERR_HASH_CRASH'

/** An error for a file that crashed the thread or process that read it. */
export class HashCrashError extends Error {
  override name = 'HashCrashError'
  /** The code stays in messages between processes, the class does not. */
  readonly code = CODE

  constructor (path: string, reason: string) {
    super(`'${path}' could not be hashed: ${reason}`)
  }
}

export const isHashCrash = (error: unknown) => error instanceof Error && 'code' in error && error.code === CODE

/** Returns the fields of an error for a message. */
export function toFields (error: unknown): ErrorFields {
  if (!(error instanceof Error)) return { message: String(error) }
  const { message, code, errno, syscall, path } = error as NodeJS.ErrnoException
  return {
    message,
    ...(code !== undefined && { code }),
    ...(errno !== undefined && { errno }),
    ...(syscall !== undefined && { syscall }),
    ...(path !== undefined && { path })
  }
}

/** Restores an error from the fields of a message. */
export function toError ({ message, ...fields }: ErrorFields): Error {
  return Object.assign(new Error(message), fields)
}
