import { lstat, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { sha256 } from '../../core/access/secrets.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import { errorCode, ifPresent } from '../../core/files/fs-error.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { nameSortKey, parseName } from '../library/names.ts'
import { libraryReadOnly } from '../library/read-only.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { type RomRename, deleteRename, finishRename, insertRename, selectRenames } from './rename-rows.ts'

type Library = FastifyInstance['library']
type Workers = Pick<FastifyInstance['workers'], 'runLocked' | 'isLocked'>
interface RenameServices {
  db: Db
  library: Pick<Library, 'list' | 'getWritable' | 'requireFolder'>
  workers: Workers
}

/** The most characters of a name in its temporary name, which has 255 bytes at most with its hash and extension. */
const TEMPORARY_NAME_MAX = 60
const HASH_LENGTH = 8
const UNSAFE = /[\\/\0-\x1f\x7f-\x9f]/g // eslint-disable-line no-control-regex

/**
 * Cleans the file or folder name that a person gives a ROM: removes characters that no name may contain.
 *
 * @throws ApiError BAD_REQUEST for a name that no file can have, or that scans skip
 */
export function toFileName (given: string, isFolder: boolean, rules: ExclusionRules): string {
  const name = given.replaceAll(UNSAFE, '').trim()
  try {
    safeName(name)
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    throw badRequest(`${err.message}; give another fs_name`)
  }
  if (isFolder ? rules.isExcludedMulti(name) : rules.isExcludedSingle(name)) {
    throw badRequest(`Scans skip '${name}'; give an fs_name that they do not exclude`)
  }
  return name
}

const romFileMissing = (name: string) => notFound(`'${name}' is not in the library any more; scan its platform`)
const clash = (name: string) => conflict(`'${name}' already exists; give another fs_name`)

/** Reads the list of names, because on a disk that ignores case a check of the new name would find the old file. */
async function checkFree (folder: string, { old_name: before, new_name: after }: RomRename): Promise<void> {
  const names = new Set(await readdir(folder))
  if (!names.has(before)) throw romFileMissing(before)
  if (names.has(after)) throw clash(after)
  const [old, other] = await Promise.all([before, after].map((name) => findInode(join(folder, name))))
  if (other !== null && other !== old) throw clash(after)
}

async function findInode (path: string): Promise<string | null> {
  const stats = await ifPresent(lstat(path, { bigint: true }))
  return stats === null ? null : `${stats.dev}:${stats.ino}`
}

const writeName = (db: Db, renaming: RomRename) => finishRename(db, renaming, {
  ...parseName(renaming.new_name, { isFolder: renaming.is_folder }),
  sort_key: nameSortKey(parseName(renaming.new_name, { isFolder: renaming.is_folder }).fs_name_no_tags)
})

function toRefusal (err: unknown, { old_name: name }: RomRename, root: LibraryRoot): unknown {
  const reasons: Record<string, string> = {
    EACCES: 'there is no permission to write', EPERM: 'there is no permission to write'
  }
  if (errorCode(err) === 'ENOENT') return romFileMissing(name)
  if (errorCode(err) === 'EROFS') return libraryReadOnly(root)
  const reason = reasons[errorCode(err)]
  return reason === undefined ? err : conflict(`'${name}' cannot be renamed: ${reason}. Make its folder writable for the server`)
}

/**
 * Renames a ROM on disk, then in the database. A row is stored before the rename, so after a crash the server can find
 * the new file name.
 *
 * @throws ApiError CONFLICT if the name is taken or impossible, or the library is read-only · NOT_FOUND if the file is
 * missing · UNAVAILABLE while the library is not mounted
 */
export async function renameRom (services: RenameServices, renaming: RomRename): Promise<void> {
  await recoverRenames(services, renaming)
  await lockRename(services.workers, renaming.rom_id, () => renameOne(services, renaming))
}

/** Runs a rename of a ROM under a key that tells other processes that it is alive. */
export const lockRename = <T>(workers: Pick<Workers, 'runLocked'>, romId: number, work: () => Promise<T>): Promise<T> =>
  workers.runLocked(keyOf(romId), work)
const keyOf = (romId: number) => `rename of ROM ${romId}`

async function renameOne ({ db, library }: RenameServices, renaming: RomRename): Promise<void> {
  const root = await library.getWritable(renaming.library_id)
  await library.requireFolder(root, renaming.platform_id, renaming.fs_path)
  const folder = join(root.dir, renaming.fs_path)
  if (!await insertRename(db, renaming)) throw clash(renaming.new_name)
  try {
    await checkFree(folder, renaming)
    await rename(join(folder, renaming.old_name), join(folder, renaming.new_name))
  } catch (err) {
    await deleteRename(db, renaming.rom_id)
    throw toRefusal(err, renaming, root)
  }
  await writeName(db, renaming)
}

/** Returns the temporary name of a file that moves into a folder of the same name; each file has its own. */
export function temporaryNameOf (fsName: string): string {
  const characters = [...fsName]
  if (characters.length <= TEMPORARY_NAME_MAX) return `.${fsName}.part`
  return `.${characters.slice(0, TEMPORARY_NAME_MAX).join('')}.${sha256(fsName).slice(0, HASH_LENGTH)}.part`
}

async function restoreName (
  folder: string, { old_name: name, new_name: folderName }: RomRename, names: readonly string[]
): Promise<void> {
  const temporaryName = temporaryNameOf(name)
  if (name !== folderName || !names.includes(temporaryName)) return
  await rename(join(folder, temporaryName), names.includes(name) ? join(folder, name, name) : join(folder, name))
}

/** Loads the renames of processes that crashed. */
async function selectCrashed (
  db: Db, workers: Pick<Workers, 'isLocked'>, next: RomRename | null
): Promise<RomRename[]> {
  const ended = new Set<number>()
  for (const { rom_id: id } of await selectRenames(db, next)) if (!await workers.isLocked(keyOf(id))) ended.add(id)
  // Loads the rows again, because a living rename may have finished before the check.
  return ended.size === 0 ? [] : (await selectRenames(db, next)).filter((renaming) => ended.has(renaming.rom_id))
}

/**
 * Finishes or cancels renames of crashed processes. Renames in unreadable folders wait for the next call.
 *
 * @param next a rename to begin: only renames that would block it are recovered; null for all
 */
export async function recoverRenames (
  { db, library, workers }: Pick<RenameServices, 'db'> & { library: Pick<Library, 'list'>, workers: Pick<Workers, 'isLocked'> },
  next: RomRename | null = null
): Promise<void> {
  const crashed = await selectCrashed(db, workers, next)
  if (crashed.length === 0) return
  const dirs = new Map((await library.list()).map(({ id, dir }) => [id, dir]))
  for (const renaming of crashed) {
    const dir = dirs.get(renaming.library_id)
    if (dir === undefined) continue
    const folder = join(dir, renaming.fs_path)
    const names = await readdir(folder).catch(() => null)
    if (names === null) continue
    await restoreName(folder, renaming, names)
    if (names.includes(renaming.new_name) && !names.includes(renaming.old_name)) await writeName(db, renaming)
    else await deleteRename(db, renaming.rom_id)
  }
}
