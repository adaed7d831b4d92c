import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPresent, resolveInside } from '../../core/files/safe-path.ts'
import { type FileKind, SOUNDTRACK } from './kinds.ts'
import { removeFile } from './remove-file.ts'
import { type TargetRom, selectFilesOf, upsertFile } from './rows.ts'
import type { RomFileServices } from './services.ts'
import { findTarget, openLibrary, withWriteErrors } from './target-rom.ts'
import { ensureFolder } from './to-folder.ts'
import { type ReceivedFile, readFileName, readGivenName, receive } from './upload.ts'

/** A received file with its final name and kind. */
interface NamedFile extends ReceivedFile { name: string, kind: FileKind }

/** Creates a folder inside the ROM's folder. Not recursive, so a ROM folder deleted meanwhile is not created again. */
async function addFolder (path: string): Promise<void> {
  await mkdir(path).catch((err: unknown) => { if (errorCode(err) !== 'EEXIST') throw err })
}

/** Moves the file that an upload replaces to the trash. @throws ApiError INSUFFICIENT_PERMISSIONS */
async function clearName (
  services: RomFileServices, request: FastifyRequest, rom: TargetRom, path: string
): Promise<void> {
  const { db, caller } = contextOf(request)
  requireGrant(caller, 'roms', 'delete')
  const former = (await selectFilesOf(db, rom.id, null))
    .find((file) => `${file.file_path}/${file.file_name}` === path)
  if (former !== undefined) await removeFile(services, rom, former, { isPermanent: false, userId: caller.id })
}

/** Publishes a received file in the ROM's folder, and stores its row. */
async function publishFile (
  { app, tagger }: RomFileServices, libraryDir: string, rom: TargetRom, file: NamedFile
): Promise<void> {
  const { name, kind, path: arrivedPath, ...facts } = file
  const folder = await ensureFolder(app, libraryDir, rom)
  const path = `${rom.fs_path}/${folder}/${kind.folder}`
  await addFolder(join(libraryDir, path))
  const target = join(libraryDir, path, name)
  await rename(arrivedPath, target)
  const { mtimeMs, ino } = await lstat(target, { bigint: true })
  const id = await upsertFile(app.db, rom.id, {
    ...facts,
    file_name: name,
    file_path: path,
    last_modified: Number(mtimeMs),
    inode: String(ino),
    category: kind.category
  })
  if (kind === SOUNDTRACK) await tagger.tagOne(id)
}

/**
 * Adds a file to the folder of a ROM. One of that name goes to the trash. A ROM that is one file gets a folder.
 *
 * @throws ApiError NOT_FOUND · INSUFFICIENT_PERMISSIONS to replace a file without the grant to delete · BAD_REQUEST
 * for a name or kind that is not accepted · CONFLICT if the folder's name is taken, or the library is read-only
 */
export async function addFile (
  services: RomFileServices, request: FastifyRequest, id: number, kind: FileKind
): Promise<void> {
  const { app } = services
  const name = readFileName(request, kind, false)
  const rom = await findTarget(contextOf(request), id)
  await withWriteErrors(app, rom, async () => {
    const { dir } = await openLibrary(app, rom)
    const targetPath = await resolveInside(dir, rom.fs_path)
    const arrived = await receive(request, readGivenName(request), targetPath)
    try {
      const path = `${rom.fs_path}/${rom.fs_name}/${kind.folder}/${name}`
      if (rom.is_folder && await isPresent(join(dir, path))) await clearName(services, request, rom, path)
      await publishFile(services, dir, rom, { ...arrived, name, kind })
    } finally {
      await rm(arrived.path, { force: true })
    }
  })
  await app.editing.announce(id)
}
