import { link, lstat, rename } from 'node:fs/promises'
import { basename } from 'node:path'
import { conflict } from '../errors.ts'
import { errorCode, isNotFoundError } from './fs-error.ts'
import { isPresent } from './safe-path.ts'

/** Errors of disks without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

export const nameTaken = (name: string) => conflict(`File ${name} already exists`)

const lstatIfPresent = (path: string) => lstat(path, { bigint: true }).catch((err: unknown) => {
  if (isNotFoundError(err)) return null
  throw err
})

async function isSameFile (path: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([lstatIfPresent(path), lstatIfPresent(other)])
  return a !== null && b !== null && a.ino === b.ino && a.dev === b.dev
}

/** True if one of these staged files already has its name in the library, from a publication that did not end. */
export async function isPublished (staged: readonly string[], target: string): Promise<boolean> {
  for (const path of staged) if (await isSameFile(path, target)) return true
  return false
}

/**
 * Publishes a staged file; its staged name may remain. On a disk with hard links no file is ever replaced, even by
 * concurrent calls. On other disks the name is checked first.
 *
 * @throws ApiError CONFLICT if the name is taken
 */
export async function publishFile (staged: string, target: string): Promise<void> {
  try {
    await link(staged, target)
  } catch (err) {
    if (errorCode(err) === 'EEXIST') throw nameTaken(basename(target))
    if (!NO_LINKS.has(errorCode(err))) throw err
    if (await isPresent(target)) throw nameTaken(basename(target))
    await rename(staged, target)
  }
}
