import { lstat, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { publishFile } from '../../core/files/publish-file.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { withRefusals } from '../library/write-checks.ts'
import { resolveStoredFile } from '../roms/stored-files.ts'
import { type FileKind, SOUNDTRACK } from './kinds.ts'
import { removeFile } from './remove-file.ts'
import { type TargetRom, selectFilesOf, upsertFile } from './rows.ts'
import type { RomFileServices } from './services.ts'
import { findTarget, openLibrary, withWriteErrors } from './target-rom.ts'
import { ensureFolder } from './to-folder.ts'
import { type ReceivedFile, readFileName, receive } from './upload.ts'

/** A received file with its final name and kind. */
interface NamedFile extends ReceivedFile { name: string, kind: FileKind }

/** Creates a folder inside the ROM's folder. Not recursive, so a ROM folder deleted meanwhile is not created again. */
async function addFolder (path: string): Promise<void> {
  await mkdir(path).catch((err: unknown) => { if (errorCode(err) !== 'EEXIST') throw err })
}

/**
 * Moves the file that an upload replaces to the trash.
 *
 * @throws ApiError INSUFFICIENT_PERMISSIONS · CONFLICT for an entry that no scan has read, because the trash keeps
 * files by their rows
 */
async function clearName (
  services: RomFileServices, request: FastifyRequest, rom: TargetRom, path: string
): Promise<void> {
  const { db, caller } = contextOf(request)
  requireGrant(caller, 'roms', 'delete')
  const former = (await selectFilesOf(db, rom.id, null))
    .find((file) => `${file.file_path}/${file.file_name}` === path)
  if (former === undefined) throw conflict(`'${path}' already exists, and no scan has read it; rename it, or scan its platform`)
  await removeFile(services, rom, former, { isPermanent: false, userId: caller.id })
}

/** Publishes a received file in the ROM's folder, and stores its row. @throws ApiError CONFLICT if the name is taken */
async function publish (
  { app, tagger }: RomFileServices, libraryDir: string, rom: TargetRom, file: NamedFile
): Promise<void> {
  const { name, kind, path: arrivedPath, ...facts } = file
  const folder = await ensureFolder(app, libraryDir, rom)
  const path = `${rom.fs_path}/${folder}/${kind.folder}`
  const { folder: targetFolder } = await resolveStoredFile(libraryDir, { ...rom, file_path: path, file_name: name })
  await addFolder(targetFolder)
  const target = join(targetFolder, name)
  await publishFile(arrivedPath, target)
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
 * for a name or kind that is not accepted · CONFLICT if the name of the file or folder is taken, or the library is
 * read-only
 */
export async function addFile (
  services: RomFileServices, request: FastifyRequest, id: number, kind: FileKind
): Promise<void> {
  const { app } = services
  const name = readFileName(request, kind, false)
  if (app.library.rules.isExcludedPart(name)) {
    throw badRequest(`Scans skip files with the name '${name}'; send another name, or change 'exclude' in config.yml`)
  }
  const rom = await findTarget(contextOf(request), id)
  const path = `${rom.fs_path}/${rom.fs_name}/${kind.folder}/${name}`
  await withWriteErrors(app, rom, () => withRefusals(path, async () => {
    const { dir } = await openLibrary(app, rom)
    const { folder } = await resolveStoredFile(dir, { ...rom, file_path: rom.fs_path, file_name: rom.fs_name })
    const arrived = await receive(request, folder)
    try {
      if (rom.is_folder && await isPresent(join(dir, path))) await clearName(services, request, rom, path)
      await publish(services, dir, rom, { ...arrived, name, kind })
    } finally {
      await rm(arrived.path, { force: true })
    }
  }))
  await app.editing.announce(id)
}
