import { ApiError } from '../errors.ts'

/** Seconds after which a client may repeat a request that failed for lack of the store. */
const RETRY_AFTER_SECONDS = 15

/** Creates the error for a store that does not work now. The message goes to clients, so it names no address. */
export const storeUnavailable = (reason: string, cause?: unknown) => new ApiError('UNAVAILABLE',
  `The store of files is unavailable (${reason}); try again later. The operator finds the reason with svc doctor`,
  { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })

/** The object was replaced or deleted while it was read. */
export const objectChanged = (key: string) =>
  new ApiError('CONFLICT', `The file '${key.slice(key.lastIndexOf('/') + 1)}' was changed while it was read; request it again`)

/** A source ended before or after its announced size. Nothing was stored. */
export class SizeMismatchError extends Error {
  override readonly name = 'SizeMismatchError'

  constructor (key: string, expected: number, found: number) {
    super(`The content for '${key}' has ${found} bytes instead of ${expected}; nothing was stored. Send it again`)
  }
}
