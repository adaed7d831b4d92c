import { lstat, mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { conflict } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { parseName } from '../library/names.ts'
import { temporaryNameOf, lockRename } from '../renames/rename-rom.ts'
import { deleteRename, insertRename } from '../renames/rename-rows.ts'
import type { BuiltDetailedRom } from '../roms/schemas.ts'
import { type TargetRom, writeFolder } from './rows.ts'
import { findTarget, openLibrary, withWriteErrors } from './target-rom.ts'

/** Creates a folder and replaces an empty one, because an unfinished conversion leaves an empty folder. */
async function createRomFolder (path: string, name: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (err) {
    if (errorCode(err) !== 'EEXIST') throw err
    await rmdir(path).catch(() => { throw conflict(`'${name}' already exists; rename it, then try again`) })
    await mkdir(path)
  }
}

/**
 * Moves a file into a new folder. A file without extension has the folder's name, so it first gets a temporary name.
 */
async function moveIn (target: string, fsName: string, folder: string): Promise<void> {
  const from = join(target, fsName)
  const waiting = fsName === folder ? join(target, temporaryNameOf(fsName)) : from
  if (waiting !== from) await rename(from, waiting)
  try {
    await createRomFolder(join(target, folder), folder)
    await rename(waiting, join(target, folder, fsName))
  } catch (err) {
    await rmdir(join(target, folder)).catch(() => {})
    if (waiting !== from) await rename(waiting, from)
    throw err
  }
}

/**
 * Moves a ROM that is one file to its own folder. A row is stored first, as for a rename. After a crash the next scan
 * finishes the conversion.
 *
 * @returns the name of the folder
 * @throws ApiError CONFLICT if that name is taken, or scans skip such a folder
 */
export async function ensureFolder (
  { db, library, workers }: Pick<FastifyInstance, 'db' | 'library' | 'workers'>, libraryDir: string, rom: TargetRom
): Promise<string> {
  if (rom.is_folder) return rom.fs_name
  if (library.rules.isExcludedMulti(rom.fs_name_no_ext)) {
    throw conflict(`Scans skip the folder '${rom.fs_name_no_ext}'; rename the ROM, then try again`)
  }
  return await lockRename(workers, rom.id, () => convert(db, libraryDir, rom))
}

async function convert (db: Db, libraryDir: string, rom: TargetRom): Promise<string> {
  const { id, library_id: library, fs_name: name, fs_name_no_ext: folder, fs_path: path, platform_id: platform } = rom
  const target = join(libraryDir, path)
  await lstat(join(target, name)).catch(() => { throw conflict(`'${name}' is not in the library any more; scan its platform`) })
  const isFree = await insertRename(db, {
    rom_id: id, library_id: library, platform_id: platform, fs_path: path, old_name: name, new_name: folder,
    is_folder: false
  })
  if (!isFree) throw conflict(`'${folder}' already exists; rename it, then try again`)
  try {
    await moveIn(target, name, folder)
  } catch (err) {
    await deleteRename(db, id)
    throw err
  }
  await writeFolder(db, rom, folder, parseName(folder, { isFolder: true }))
  return folder
}

/**
 * Moves a ROM that is one file to its own folder, as a request asks.
 *
 * @throws ApiError NOT_FOUND · CONFLICT if the folder's name is taken, or scans skip it, or the library is read-only
 */
export async function convertToFolder (app: FastifyInstance, context: Context, id: number): Promise<BuiltDetailedRom> {
  const rom = await findTarget(context, id)
  if (!rom.is_folder) {
    const { dir } = await openLibrary(app, rom)
    await withWriteErrors(app, rom, () => ensureFolder(app, dir, rom))
    await app.editing.announce(id)
  }
  return await app.roms.getDetailed({ db: app.db, caller: context.caller }, id)
}
