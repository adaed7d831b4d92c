import { link, lstat, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { errorCode, isNotFoundError } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { syncFolder } from '../../core/files/sync-folder.ts'
import { writeRoms } from '../scans/rom-write-rows.ts'
import type { OriginalFile, Publication, Swap } from './entities.ts'
import { type RunningConversion, deleteConversion, lockConversion, prepareRom, selectConversions } from './rows.ts'
import { readFacts, removeFolder } from './work-folder.ts'

export interface SwapServices {
  db: Db
  library: Pick<FastifyInstance['library'], 'list' | 'get' | 'getWritable'>
}

/** The reason why the old files stayed, such as a taken name. Null if the new files replaced them. */
export type SwapProblem = string | null

/** Errors of a disk without hard links, or with a rule against them. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])

class NameTakenError extends Error {
  constructor (path: string) {
    super(`'${basename(path)}' already exists; rename or delete it`)
  }
}

async function findInode (path: string): Promise<string | null> {
  try {
    return String((await lstat(path, { bigint: true })).ino)
  } catch (err) {
    if (isNotFoundError(err)) return null
    throw err
  }
}

/** Publishes a file, and replaces another one only with `replaces`. A repeated call has no effect. */
async function linkFile (libraryDir: string, { from, to, inode, replaces }: Publication): Promise<void> {
  const [source, target] = [join(libraryDir, from), join(libraryDir, to)]
  await mkdir(dirname(target), { recursive: true })
  const isWaiting = await isPresent(source)
  if (replaces) return isWaiting ? await rename(source, target) : undefined
  const existing = await findInode(target)
  if (existing === inode) return
  if (existing !== null || !isWaiting) throw new NameTakenError(target)
  try {
    await link(source, target)
  } catch (err) {
    if (errorCode(err) === 'EEXIST') throw new NameTakenError(target)
    if (!NO_LINK.has(errorCode(err))) throw err
    await rename(source, target)
  }
}

/** Deletes published new files, and the folder that was created for them if it is empty. */
async function removeNewFiles (libraryDir: string, publications: readonly Publication[]): Promise<void> {
  for (const { to, inode } of publications.filter((publication) => !publication.replaces)) {
    const target = join(libraryDir, to)
    if (await findInode(target) === inode) await rm(target)
    // The system refuses to remove a folder that is not empty.
    await rmdir(dirname(target)).catch(() => {})
  }
}

async function isUnchanged (libraryDir: string, original: OriginalFile): Promise<boolean> {
  const { inode, size, mtime } = await readFacts(join(libraryDir, original.path))
  return inode === original.inode && size === original.size && mtime === original.mtime
}

/** True if all new files have their names: only then are old ones deleted. */
async function arePublished (libraryDir: string, publications: readonly Publication[]): Promise<boolean> {
  for (const { to, inode } of publications) if (await findInode(join(libraryDir, to)) !== inode) return false
  return true
}

/**
 * Returns the old files that still exist unchanged; null if somebody else changed or deleted one. A missing old file
 * counts as deleted by this conversion only if all new files have their names. If all old files exist, none was deleted
 * yet.
 */
async function listFilesToDelete (
  libraryDir: string, { originals, placings: publications }: Swap
): Promise<string[] | null> {
  const existing: OriginalFile[] = []
  for (const original of originals) if (await isPresent(join(libraryDir, original.path))) existing.push(original)
  const unchanged: string[] = []
  for (const original of existing) if (await isUnchanged(libraryDir, original)) unchanged.push(original.path)
  if (unchanged.length === originals.length) return unchanged
  return existing.length < originals.length && await arePublished(libraryDir, publications) ? unchanged : null
}

/** Publishes all new files, or none. */
async function linkAll (libraryDir: string, publications: readonly Publication[]): Promise<SwapProblem> {
  try {
    // Replacements come last, because they cannot be undone.
    const inOrder = publications.toSorted((a, b) => Number(a.replaces) - Number(b.replaces))
    for (const publication of inOrder) await linkFile(libraryDir, publication)
    for (const folder of new Set(publications.map(({ to }) => dirname(to)))) await syncFolder(join(libraryDir, folder))
    return null
  } catch (err) {
    await removeNewFiles(libraryDir, publications)
    return err instanceof Error ? err.message : String(err)
  }
}

/** Finishes a swap. A process that crashed may have done any of these steps before. */
async function finishSwap (
  { db }: SwapServices, libraryDir: string, conversion: RunningConversion, swap: Swap
): Promise<SwapProblem> {
  const { platform_id: id, library_id: library } = conversion
  const { placings: publications, write } = swap
  const pathsToDelete = await listFilesToDelete(libraryDir, swap)
  if (pathsToDelete === null) {
    await removeNewFiles(libraryDir, publications)
    return 'its files were changed during the conversion; run the task again'
  }
  const problem = await linkAll(libraryDir, publications)
  if (problem !== null) return problem
  if (await prepareRom(db, conversion, write.row.fs_name)) await writeRoms(db, { id, library_id: library }, [write])
  for (const path of pathsToDelete) await rm(join(libraryDir, path), { force: true })
  return null
}

/**
 * Replaces the old files of a ROM by the new ones, on disk and in the database. Concurrent calls wait for each other.
 * For a ROM without a swap, only removes the temporary files.
 */
export async function finishConversion (services: SwapServices, romId: number): Promise<SwapProblem> {
  // The lock is in the database. All work under the lock is idempotent.
  return await inTransaction(services.db, async (tx) => {
    const conversion = await lockConversion(tx, romId)
    if (conversion === null) return null
    const { swap, work_path: work } = conversion
    const { dir } = await services.library.getWritable(conversion.library_id)
    const problem = swap === null ? 'it was interrupted before the files were replaced' : await finishSwap(services, dir, conversion, swap)
    await removeFolder(join(dir, work))
    await deleteConversion(tx, romId)
    return problem
  })
}

/**
 * True if a file of the conversion can be reached. On an unmounted disk none of them exists, and the conversion waits.
 */
async function isReachable (libraryDir: string, work: string, swap: Swap | null): Promise<boolean> {
  if (swap === null) return await isPresent(join(libraryDir, dirname(work)))
  const paths = [work, ...swap.placings.map(({ to }) => to), ...swap.originals.map(({ path }) => path)]
  for (const path of paths) if (await isPresent(join(libraryDir, path))) return true
  return false
}

/**
 * Finishes the conversions of processes that have ended. Conversions that cannot be finished now are tried next time.
 *
 * @param isAlone true if no conversion is running: then temporary files are removed too
 * @returns the errors of conversions that could not be finished
 */
export async function recoverConversions (services: SwapServices, isAlone: boolean): Promise<unknown[]> {
  const failures: unknown[] = []
  const roots = (await services.library.list()).filter((root) => root.is_writable)
  const dirs = new Map(roots.map(({ id, dir }) => [id, dir]))
  for (const { rom_id: romId, library_id: library, work_path: work, swap } of await selectConversions(services.db)) {
    const dir = dirs.get(library)
    if (dir === undefined || (swap === null && !isAlone)) continue
    try {
      if (await isReachable(dir, work, swap)) await finishConversion(services, romId)
    } catch (err) {
      failures.push(err)
    }
  }
  return failures
}
