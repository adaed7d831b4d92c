import { ApiError } from '../../core/errors.ts'

/**
 * True if the mail server may accept a mail later that it refused with this error of `app.mail.send`, as after
 * greylisting (RFC 5321, 4.2.1).
 */
export function mayAcceptLater (err: unknown): boolean {
  if (!(err instanceof ApiError) || err.code !== 'UNAVAILABLE') return false
  const status: unknown = err.cause instanceof Error ? Reflect.get(err.cause, 'responseCode') : undefined
  return typeof status !== 'number' || status < 500
}
