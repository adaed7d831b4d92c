import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { badRequest } from '../../core/errors.ts'
import { JSON_DEPTH_MAX, isShallow } from '../../core/web/json-depth.ts'

const USERNAME = /^[A-Za-z0-9_-]{3,255}$/
/** An e-mail address: printable ASCII before the `@`. */
const EMAIL = /^[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,}$/
const QUOTED_MAX = 50
const SETTINGS_MAX_BYTES = 64 * 1024
/** Characters that JSON allows and PostgreSQL cannot store: NUL, and half a surrogate pair. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** @returns the name in its stored form. @throws ApiError BAD_REQUEST */
export function readUsername (username: string): string {
  if (USERNAME.test(username)) return username.toLowerCase()
  throw badRequest(`Username '${username.slice(0, QUOTED_MAX)}' must be 3 to 255 letters, digits, '_' or '-'`)
}

/** @returns the address in its stored form; null for none. @throws ApiError BAD_REQUEST */
export function readEmail (email: string): string | null {
  if (email === '') return null
  if (EMAIL.test(email)) return email.toLowerCase()
  throw badRequest(`Email '${email.slice(0, QUOTED_MAX)}' must look like name@example.org`)
}

export const readRole = (role: string): 'admin' | 'user' => role.trim().toLowerCase() === 'admin' ? 'admin' : 'user'

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('ui_settings is not JSON; send the text of an object')
  }
}

/** Reads a client's own settings: an object, or its JSON text. @throws ApiError BAD_REQUEST */
export function readSettings (given: unknown): Record<string, unknown> {
  const value = typeof given === 'string' ? parse(given) : given
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('ui_settings must be a JSON object')
  }
  // The check of the body's depth does not cover JSON in text.
  if (!isShallow(value)) throw badRequest(`ui_settings is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`)
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > SETTINGS_MAX_BYTES) throw badRequest('ui_settings is larger than 64 KiB')
  if (UNSTORABLE.test(text)) throw badRequest('ui_settings contains a character that cannot be stored (NUL or an unpaired surrogate)')
  return { ...value }
}

interface Names { username?: string | undefined, email?: string | null | undefined }

/** @throws ApiError BAD_REQUEST naming the value, if `work` collides with an account that already has it. */
export async function refuseTaken<T> ({ username, email }: Names, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (!(err instanceof UniqueConstraintViolationException)) throw err
    const isEmail = err.message.includes('users_email_unique')
    throw badRequest(isEmail ? `Email '${email}' is taken` : `Username '${username}' is taken`)
  }
}
