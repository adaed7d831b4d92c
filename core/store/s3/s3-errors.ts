import { storeUnavailable } from '../store-errors.ts'
import { S3ConnectionError, S3Error } from './client.ts'

/** Refusals that an operator has to mend, with the reason in words. */
const REASONS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  AccessDenied: 'the credentials do not allow it',
  InvalidAccessKeyId: 'the access key is unknown',
  SignatureDoesNotMatch: 'the secret key is wrong',
  RequestTimeTooSkewed: 'the clock of this machine is wrong'
}

/** True if there is no such object. A missing bucket is a wrong setting. */
export const isMissing = (err: unknown): boolean =>
  err instanceof S3Error && err.status === 404 && err.code !== 'NoSuchBucket'

/** True if the object is not the expected one any more. */
export const isReplaced = (err: unknown): boolean => err instanceof S3Error && err.status === 412

/** Returns the error for clients. Errors of the source of a content stay as they are. */
export function toStoreError (err: unknown): unknown {
  if (err instanceof S3Error) return storeUnavailable(REASONS[err.code] ?? err.code, err)
  return err instanceof S3ConnectionError ? storeUnavailable('it does not answer', err) : err
}

/** Runs work and converts its errors. @throws ApiError UNAVAILABLE */
export async function orUnavailable<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    throw toStoreError(err)
  }
}
