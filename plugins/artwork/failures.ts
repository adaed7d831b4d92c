import { errorCode } from '../../core/files/fs-error.ts'

/** Artwork that its origin does not give, or that is no picture, document or film. */
export class ArtworkError extends Error {
  override readonly name = 'ArtworkError'
}

/** Artwork that was available but could not be written to the store. */
export class ArtworkStoreError extends Error {
  override readonly name = 'ArtworkStoreError'
  /** The code of the system, such as `ENOSPC`, or `NO_FREE_SPACE` if only the reserve of the disk is left. */
  readonly code: string

  constructor (code: string, options?: ErrorOptions) {
    super(`it could not be stored: ${describe(code)}`, options)
    this.code = code
  }
}

interface Failure { count: number, message: string }

const FULL = ['ENOSPC', 'EDQUOT', 'EROFS', 'NO_FREE_SPACE', 'UNAVAILABLE']

/** True if no other file can be written either. */
export const isDiskFull = (err: unknown): err is ArtworkStoreError =>
  err instanceof ArtworkStoreError && FULL.includes(err.code)

function describe (code: string): string {
  switch (code) {
    case 'ENOSPC': return 'the disk is full (ENOSPC)'
    case 'EDQUOT': return 'the disk quota is used up (EDQUOT)'
    case 'NO_FREE_SPACE': return 'less than 1 GiB is free on the disk'
    case 'EROFS': return 'the disk is read-only (EROFS)'
    case 'UNAVAILABLE': return 'the store of files is unavailable'
    case 'EACCES':
    case 'EPERM': return `there is no permission to write (${code})`
    default: return `the disk reported an error (${code})`
  }
}

function remedyOf (code: string, folder: string): string {
  switch (code) {
    case 'ENOSPC':
    case 'NO_FREE_SPACE':
    case 'EDQUOT': return `Free space under ${folder}`
    case 'EROFS': return `Make ${folder} writable`
    case 'UNAVAILABLE': return 'Find the reason with svc doctor'
    case 'EACCES':
    case 'EPERM': return `Give the server's user permission to write under ${folder}`
    default: return `Check ${folder} and its disk`
  }
}

/** Converts an error of the file system to one of the store, which is not a fault of the picture. */
export function toStoreError (err: unknown): unknown {
  const code = errorCode(err)
  return code === '' ? err : new ArtworkStoreError(code, { cause: err })
}

export async function onDisk<T> (write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (err) {
    throw toStoreError(err)
  }
}

/** Counts failures by platform and reason, because one message says as much as a thousand. */
export function createArtworkFailures (resourcesDir: string) {
  const platforms = new Map<number, Map<string, Failure>>()

  function explain (err: unknown): { key: string, message: string } {
    if (err instanceof ArtworkStoreError) {
      const sentence = `${describe(err.code)}. ${remedyOf(err.code, resourcesDir)}, then run an update scan`
      return { key: err.code, message: `could not be stored: ${sentence}` }
    }
    const { name, message } = err instanceof Error ? err : new Error(String(err))
    return { key: name, message: `could not be fetched, the first because ${message}` }
  }

  return {
    add (platformId: number, err: unknown): void {
      const failures = platforms.get(platformId) ?? new Map<string, Failure>()
      platforms.set(platformId, failures)
      const { key, message: sentence } = explain(err)
      const failure = failures.get(key) ?? { count: 0, message: sentence }
      failures.set(key, { ...failure, count: failure.count + 1 })
    },

    /** @param nameOf returns the folder name of a platform */
    list (nameOf: (platformId: number) => string): { platform: string, reason: string }[] {
      return [...platforms].flatMap(([id, failures]) => [...failures.values()].map(({ count, message: sentence }) => {
        const platform = nameOf(id)
        return { platform, reason: `${count} artwork ${count === 1 ? 'file' : 'files'} of '${platform}' ${sentence}` }
      }))
    },

    get platformIds () { return [...platforms.keys()] }
  }
}
export type ArtworkFailures = ReturnType<typeof createArtworkFailures>
