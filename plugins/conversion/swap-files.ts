import { link, lstat, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { transaction } from '../../core/database/transaction.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import type { RomStore } from '../scans/rom-rows.ts'
import type { Original, Placing, Swap } from './entities.ts'
import { type BegunConversion, deleteConversion, lockConversion, prepareRom, selectConversions } from './rows.ts'
import { factsOf, removeFolder, syncPath } from './work-folder.ts'

export interface SwapServices {
  pool: pg.Pool
  library: Pick<FastifyInstance['library'], 'list' | 'get' | 'getWritable'>
  store: Pick<RomStore, 'write'>
}

/** Why the old files stayed: something stood in the way of the new ones. Null when these took their places. */
export type Obstacle = string | null

/** A disk without hard links, or with a rule against them. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])

class TakenError extends Error {
  constructor (path: string) {
    super(`'${basename(path)}' is there already; rename or delete it`)
  }
}

async function findInode (path: string): Promise<string | null> {
  try {
    return String((await lstat(path, { bigint: true })).ino)
  } catch (err) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(err))) return null
    throw err
  }
}

/** Gives a file its name and takes none from another one; once it has it, again is no harm. */
async function linkFile (libraryDir: string, { from, to, inode, replaces }: Placing): Promise<void> {
  const [source, target] = [join(libraryDir, from), join(libraryDir, to)]
  await mkdir(dirname(target), { recursive: true })
  const isWaiting = await isPresent(source)
  if (replaces) return isWaiting ? await rename(source, target) : undefined
  const there = await findInode(target)
  if (there === inode) return
  if (there !== null || !isWaiting) throw new TakenError(target)
  try {
    await link(source, target)
  } catch (err) {
    if (errorCode(err) === 'EEXIST') throw new TakenError(target)
    if (!NO_LINK.has(errorCode(err))) throw err
    await rename(source, target)
  }
}

/** Takes new files away again, and the folder that was made for them when nothing else is in it. */
async function removeNewFiles (libraryDir: string, placings: readonly Placing[]): Promise<void> {
  for (const { to, inode } of placings.filter((placing) => !placing.replaces)) {
    const target = join(libraryDir, to)
    if (await findInode(target) === inode) await rm(target)
    // Refused for a folder that holds something.
    await rmdir(dirname(target)).catch(() => {})
  }
}

async function isUnchanged (libraryDir: string, original: Original): Promise<boolean> {
  const { inode, size, mtime } = await factsOf(join(libraryDir, original.path))
  return inode === original.inode && size === original.size && mtime === original.mtime
}

/** Whether all new files have their names: only then are old ones deleted. */
async function arePlaced (libraryDir: string, placings: readonly Placing[]): Promise<boolean> {
  for (const { to, inode } of placings) if (await findInode(join(libraryDir, to)) !== inode) return false
  return true
}

/**
 * Old files that are still there as they were read; null when somebody else changed or deleted one. One that is missing
 * was deleted here when all new files have their names, and while all old ones are there, none was deleted yet.
 */
async function listLeaving (libraryDir: string, { originals, placings }: Swap): Promise<string[] | null> {
  const there: Original[] = []
  for (const original of originals) if (await isPresent(join(libraryDir, original.path))) there.push(original)
  const unchanged: string[] = []
  for (const original of there) if (await isUnchanged(libraryDir, original)) unchanged.push(original.path)
  if (unchanged.length === originals.length) return unchanged
  return there.length < originals.length && await arePlaced(libraryDir, placings) ? unchanged : null
}

/** Gives all new files their names, or none. */
async function linkAll (libraryDir: string, placings: readonly Placing[]): Promise<Obstacle> {
  try {
    // What replaces a file cannot be taken back, so it comes last.
    const inOrder = placings.toSorted((a, b) => Number(a.replaces) - Number(b.replaces))
    for (const placing of inOrder) await linkFile(libraryDir, placing)
    for (const folder of new Set(placings.map(({ to }) => dirname(to)))) await syncPath(join(libraryDir, folder))
    return null
  } catch (err) {
    await removeNewFiles(libraryDir, placings)
    return err instanceof Error ? err.message : String(err)
  }
}

/** Every step may have been done before by a process that ended then. */
async function goForward (
  { pool, store }: SwapServices, libraryDir: string, conversion: BegunConversion, swap: Swap
): Promise<Obstacle> {
  const { platform_id: id, library_id: library } = conversion
  const { placings, write } = swap
  const leaving = await listLeaving(libraryDir, swap)
  if (leaving === null) {
    await removeNewFiles(libraryDir, placings)
    return 'its files were changed meanwhile; run the task again'
  }
  const obstacle = await linkAll(libraryDir, placings)
  if (obstacle !== null) return obstacle
  if (await prepareRom(pool, conversion, write.row.fs_name)) await store.write({ id, library_id: library }, [write])
  for (const path of leaving) await rm(join(libraryDir, path), { force: true })
  return null
}

/**
 * Puts the new files of a ROM in the places of the old ones, on disk and in the database. Whoever else does the same at
 * that moment waits. A ROM without a swap loses what is temporary.
 */
export async function endConversion (services: SwapServices, romId: number): Promise<Obstacle> {
  // The lock is of the database; all that is done while it is held may be done again.
  return await transaction(services.pool, async (client) => {
    const conversion = await lockConversion(client, romId)
    if (conversion === null) return null
    const { swap, work_path: work } = conversion
    const { dir } = await services.library.getWritable(conversion.library_id)
    const obstacle = swap === null ? 'it was given up' : await goForward(services, dir, conversion, swap)
    await removeFolder(join(dir, work))
    await deleteConversion(client, romId)
    return obstacle
  })
}

/** Of a disk that is not mounted nothing is there: it is waited for. */
async function isWithinReach (libraryDir: string, work: string, swap: Swap | null): Promise<boolean> {
  if (swap === null) return await isPresent(join(libraryDir, dirname(work)))
  const paths = [work, ...swap.placings.map(({ to }) => to), ...swap.originals.map(({ path }) => path)]
  for (const path of paths) if (await isPresent(join(libraryDir, path))) return true
  return false
}

/**
 * Ends what processes began that are gone. What cannot be ended now is tried the next time.
 *
 * @param isAlone whether nothing is being converted now: then also what is temporary goes
 * @returns why some could not be ended
 */
export async function recoverConversions (services: SwapServices, isAlone: boolean): Promise<unknown[]> {
  const failures: unknown[] = []
  const roots = (await services.library.list()).filter((root) => root.is_writable)
  const dirs = new Map(roots.map(({ id, dir }) => [id, dir]))
  for (const { rom_id: romId, library_id: library, work_path: work, swap } of await selectConversions(services.pool)) {
    const dir = dirs.get(library)
    if (dir === undefined || (swap === null && !isAlone)) continue
    try {
      if (await isWithinReach(dir, work, swap)) await endConversion(services, romId)
    } catch (err) {
      failures.push(err)
    }
  }
  return failures
}
