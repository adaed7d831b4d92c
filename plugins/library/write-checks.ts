import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, badRequest, conflict } from '../../core/errors.ts'
import { createFolder } from '../../core/files/create-folder.ts'
import { explainDiskError } from '../../core/files/disk-errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { PathRefusedError, resolveInside, safeName } from '../../core/files/safe-path.ts'
import { LibraryUnreadableError, isFolder, reasonOf } from './directory.ts'
import type { ExclusionRules } from './exclusions.ts'

/** Returns the refusal for an error of the library, whose path is only logged; null for any other error. */
export function explainLibraryError (err: unknown): ApiError | null {
  if (err instanceof PathRefusedError) return badRequest(err.message)
  if (!(err instanceof LibraryUnreadableError)) return null
  return new ApiError('UNAVAILABLE', `The library cannot be read: ${reasonOf(err.cause)}. Check SVC_LIBRARY_DIR and its ` +
    'permissions', { cause: err })
}

/** Converts a write error of a disk to a refusal with a remedy; returns other errors unchanged. */
export function toRefusal (err: unknown, path: string): unknown {
  switch (errorCode(err)) {
    case 'EACCES':
    case 'EPERM': return conflict(`The server may not write in '${path}'; give its user the right to write there`)
    case 'EROFS': return conflict(`'${path}' is read-only; mount the library writable`)
    case 'EEXIST':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ELOOP':
    case 'ENOTEMPTY': return conflict(`Another file or folder has the name of '${path}'; rename that one`)
    case 'ENAMETOOLONG': return badRequest(`The name of '${path}' is too long for its disk; send a shorter one`)
    default: break
  }
  return explainLibraryError(err) ?? explainDiskError(err) ?? err
}

/** @throws ApiError BAD_REQUEST for a name that no file of the library can have, or that scans skip */
export function checkFileName (name: string, rules: Pick<ExclusionRules, 'isExcludedSingle'>): void {
  try {
    safeName(name)
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    throw badRequest(`${err.message}; send a plain file name`)
  }
  if (rules.isExcludedSingle(name)) {
    throw badRequest(`Scans skip files with the name '${name}'; send another name, or change 'exclude' in config.yml`)
  }
}

/** Runs work on a path of the library, and converts write errors of its disk to refusals. */
export async function withRefusals<T> (path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    throw toRefusal(err, path)
  }
}

/**
 * Returns the path of a folder of the library without symbolic links, and creates the folder if necessary.
 *
 * @throws ApiError CONFLICT, BAD_REQUEST, NO_FREE_SPACE
 */
export async function openFolder (libraryDir: string, path: string): Promise<string> {
  return await withRefusals(path, async () => {
    const folder = join(libraryDir, path)
    if (!await isFolder(folder)) await createFolder(await resolveInside(libraryDir, path))
    return await realpath(folder)
  })
}
