import type { ErrorFields } from './threads/protocol.ts'

const CODE = 'ERR_HASH_CRASH'

/** Reading the file ended the thread or the process that read it. */
export class HashCrashError extends Error {
  override name = 'HashCrashError'
  /** Survives the way between processes, as the class does not. */
  readonly code = CODE

  constructor (path: string, reason: string) {
    super(`'${path}' could not be hashed: ${reason}`)
  }
}

export const isHashCrash = (error: unknown) => error instanceof Error && 'code' in error && error.code === CODE

/** What of an error a message carries. */
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

/** Restores an error whose fields came by message. */
export function toError ({ message, ...fields }: ErrorFields): Error {
  return Object.assign(new Error(message), fields)
}
