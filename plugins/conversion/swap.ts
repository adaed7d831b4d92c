import { link, lstat, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import { transaction } from '../../core/database/transaction.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import type { RomStore } from '../scans/store/rom-rows.ts'
import type { Original, Placing, Swap } from './entities.ts'
import { type BegunConversion, deleteConversion, lockConversion, prepareRom, selectConversions } from './rows.ts'
import { factsOf, removeFolder, syncPath } from './work.ts'

export interface SwapServices { pool: pg.Pool, libraryDir: string, store: Pick<RomStore, 'write'> }

/** `undone`: something stood in the way, and the old files are what they were. */
export type Outcome = 'done' | 'undone'

/** A disk without hard links, or with a rule against them. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])

/** The name is somebody else's by now. */
class TakenError extends Error {}

async function findInode (path: string): Promise<string | null> {
  try {
    return String((await lstat(path, { bigint: true })).ino)
  } catch (err) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(err))) return null
    throw err
  }
}

/** Gives a file its name and takes none from another one; once it has it, again is no harm. */
async function place (libraryDir: string, { from, to, inode, replaces }: Placing): Promise<void> {
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
async function takeAway (libraryDir: string, placings: readonly Placing[]): Promise<void> {
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

/** Old files that are still there as they were read; null when somebody changed one before any of them was deleted. */
async function listLeaving (libraryDir: string, originals: readonly Original[]): Promise<string[] | null> {
  const there: Original[] = []
  for (const original of originals) if (await isPresent(join(libraryDir, original.path))) there.push(original)
  const unchanged: string[] = []
  for (const original of there) if (await isUnchanged(libraryDir, original)) unchanged.push(original.path)
  return unchanged.length < there.length && there.length === originals.length ? null : unchanged
}

/** Every step may have been done before by a process that ended then. */
async function goForward (
  { pool, libraryDir, store }: SwapServices, conversion: BegunConversion, { placings, originals, write }: Swap
): Promise<Outcome> {
  const leaving = await listLeaving(libraryDir, originals)
  try {
    if (leaving === null) throw new TakenError('An old file is another one by now')
    for (const placing of placings.toSorted((a, b) => Number(a.replaces) - Number(b.replaces))) await place(libraryDir, placing)
  } catch (err) {
    if (!(err instanceof TakenError)) throw err
    await takeAway(libraryDir, placings)
    return 'undone'
  }
  for (const folder of new Set(placings.map(({ to }) => dirname(to)))) await syncPath(join(libraryDir, folder))
  if (await prepareRom(pool, conversion, write.row.fs_name)) await store.write(conversion.platform_id, [write])
  for (const path of leaving) await rm(join(libraryDir, path), { force: true })
  return 'done'
}

/**
 * Puts the new files of a ROM in the places of the old ones, on disk and in the database. Whoever else does the same at
 * that moment waits. A ROM without a swap loses what is temporary.
 */
export async function endConversion (services: SwapServices, romId: number): Promise<Outcome> {
  // The lock is of the database; all that is done while it is held may be done again.
  return await transaction(services.pool, async (client) => {
    const conversion = await lockConversion(client, romId)
    if (conversion === null) return 'done'
    const outcome = conversion.swap === null ? 'undone' : await goForward(services, conversion, conversion.swap)
    await removeFolder(join(services.libraryDir, conversion.work_path))
    await deleteConversion(client, romId)
    return outcome
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
 * Ends what processes began that are gone.
 *
 * @param isAlone whether nothing is being converted now: then also what is temporary goes
 */
export async function recoverConversions (services: SwapServices, isAlone: boolean): Promise<void> {
  for (const { rom_id: romId, work_path: work, swap } of await selectConversions(services.pool)) {
    if (swap === null && !isAlone) continue
    if (await isWithinReach(services.libraryDir, work, swap)) await endConversion(services, romId)
  }
}
