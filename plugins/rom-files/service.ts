import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, callerOf, requireGrant } from '../../core/access/auth.ts'
import { type Context, contextOf } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { PathRefusedError, isPresent, resolveInside } from '../../core/files/safe-path.ts'
import type { LibraryRoot } from '../library/roots.ts'
import type { BuiltDetailedRom } from '../roms/schemas.ts'
import { artworkFolder } from '../artwork/artwork.ts'
import { type FileKind, MANUAL, SOUNDTRACK } from './kinds.ts'
import { type FoundFile, type TargetRom, deleteFile, selectFilesOf, selectTarget, upsertFile, writeManual } from './rows.ts'
import type { SoundtrackTrack } from './schemas.ts'
import { ensureFolder } from './to-folder.ts'
import type { Tagger } from './tags/tagger.ts'
import { type ReceivedFile, readGivenName, readFileName, receive } from './upload.ts'
import { toTrackView } from './views.ts'

const REFUSED = new Map([
  ['EROFS', 'the library is read-only'], ['EACCES', 'there is no permission to write'], ['EPERM', 'there is no permission to write']
])

/** Creates a folder inside the ROM's folder. Not recursive, so a ROM folder deleted meanwhile is not created again. */
async function addFolder (path: string): Promise<void> {
  await mkdir(path).catch((err: unknown) => { if (errorCode(err) !== 'EEXIST') throw err })
}

const movedError = () =>
  conflict('The ROM was deleted, renamed or moved at the same moment; fetch its current state and try again')

export function createRomFiles (app: FastifyInstance, config: Config, tagger: Tagger) {
  const resourcesDir = join(config.data_dir, 'resources')

  async function find (context: Context, id: number): Promise<TargetRom> {
    const rom = await selectTarget(context, id)
    if (rom === null) throw notFound(`ROM with ID '${id}' not found`)
    return rom
  }

  /** Converts write errors of the library's disk to refusals, because they are not faults of the server. */
  async function withWriteErrors<T> (work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (err) {
      if (err instanceof PathRefusedError) throw badRequest(err.message)
      if (errorCode(err) === 'ENOENT') throw movedError()
      const reason = REFUSED.get(errorCode(err))
      throw reason === undefined ? err : conflict(`The file cannot be stored: ${reason}. Make the library writable for the server`)
    }
  }

  /** @throws ApiError CONFLICT if it is read-only, or its disk has changed · UNAVAILABLE while it is not mounted */
  async function openLibrary (
    { library_id: library, platform_id: platform, fs_path: path }: TargetRom
  ): Promise<LibraryRoot> {
    const root = await app.library.getWritable(library)
    await app.library.requireFolder(root, platform, path)
    return root
  }

  const platformFolderOf = ({ platform_id: id, library_id: library }: TargetRom) => ({ id, library_id: library })

  async function publishFile (
    libraryDir: string, rom: TargetRom, kind: FileKind, name: string, arrived: ReceivedFile
  ): Promise<void> {
    const folder = await ensureFolder(app, libraryDir, rom)
    const path = `${rom.fs_path}/${folder}/${kind.folder}`
    await addFolder(join(libraryDir, path))
    const target = join(libraryDir, path, name)
    await rename(arrived.path, target)
    const { mtimeMs, ino } = await lstat(target, { bigint: true })
    const { path: _path, ...facts } = arrived
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

  async function findFile (
    db: Db, rom: TargetRom, fileId: number, category: string | null, missing: string
  ): Promise<FoundFile> {
    const file = (await selectFilesOf(db, rom.id, category)).find((one) => one.id === fileId)
    if (file === undefined) throw notFound(missing)
    return file
  }

  async function removeFile (rom: TargetRom, file: FoundFile, isPermanent: boolean, caller: Caller): Promise<void> {
    const disposal = app.trash.open(isPermanent, caller.id)
    const trashId = await disposal.storeFile(file.id)
    let isMoved = false
    try {
      isMoved = await withWriteErrors(() => disposal.move({ ...rom, ...file }))
    } finally {
      if (!isMoved && trashId !== null) await disposal.deleteRows([trashId])
    }
    if (!await deleteFile(app.db, rom, file, isMoved)) throw movedError()
    await disposal.finish()
    const cover = file.track_meta?.cover_path ?? null
    if (cover !== null) await rm(join(resourcesDir, cover), { force: true })
    await app.editing.announce(rom.id)
  }

  /** Moves the file that an upload replaces to the trash. @throws ApiError INSUFFICIENT_PERMISSIONS */
  async function clearName (request: FastifyRequest, libraryDir: string, rom: TargetRom, path: string): Promise<void> {
    if (!await isPresent(join(libraryDir, path))) return
    const caller = callerOf(request)
    requireGrant(caller, 'roms', 'delete')
    const former = (await selectFilesOf(request.db, rom.id, null))
      .find((file) => `${file.file_path}/${file.file_name}` === path)
    if (former !== undefined) await removeFile(rom, former, false, caller)
  }

  return {
    /**
     * Adds a file to the folder of a ROM. One of that name goes to the trash. A ROM that is one file gets a folder.
     *
     * @throws ApiError NOT_FOUND · INSUFFICIENT_PERMISSIONS to replace a file without the grant to delete · BAD_REQUEST
     * for a name or kind that is not accepted · CONFLICT if the folder's name is taken, or the library is read-only
     */
    async add (request: FastifyRequest, id: number, kind: FileKind): Promise<void> {
      const name = readFileName(request, kind, false)
      const rom = await find(contextOf(request), id)
      await withWriteErrors(async () => {
        const { dir } = await openLibrary(rom)
        const targetPath = await resolveInside(dir, rom.fs_path)
        const arrived = await receive(request, readGivenName(request), targetPath)
        try {
          if (rom.is_folder) await clearName(request, dir, rom, `${rom.fs_path}/${rom.fs_name}/${kind.folder}/${name}`)
          await publishFile(dir, rom, kind, name, arrived)
        } finally {
          await rm(arrived.path, { force: true })
        }
      })
      await app.editing.announce(id)
    },

    /** @throws ApiError NOT_FOUND unless the file is of that kind */
    async remove (context: Context, id: number, fileId: number, kind: FileKind): Promise<void> {
      const { db, caller } = context
      const rom = await find(context, id)
      await removeFile(rom, await findFile(db, rom, fileId, kind.category, kind.missing), false, caller)
    },

    /**
     * Deletes any file of a ROM. A ROM without files is missing from the library.
     *
     * @throws ApiError NOT_FOUND unless the file belongs to the ROM
     */
    async removeAny (
      context: Context, id: number, fileId: number, isPermanent: boolean
    ): Promise<void> {
      const { db, caller } = context
      const rom = await find(context, id)
      const file = await findFile(db, rom, fileId, null, 'File not found')
      await removeFile(rom, file, isPermanent, caller)
      if (file.is_top_level && rom.is_folder) await app.scans.scanEntries(platformFolderOf(rom), [rom.fs_name], null)
    },

    /**
     * Moves a ROM that is one file to its own folder.
     *
     * @throws ApiError NOT_FOUND · CONFLICT if the folder's name is taken, or the library is read-only
     */
    async toFolder (context: Context, id: number): Promise<BuiltDetailedRom> {
      const { caller } = context
      const rom = await find(context, id)
      if (!rom.is_folder) {
        const { dir } = await openLibrary(rom)
        await withWriteErrors(() => ensureFolder(app, dir, rom))
        await app.editing.announce(id)
      }
      return await app.roms.getDetailed({ db: app.db, caller }, id)
    },

    async listTracks (context: Context, id: number): Promise<SoundtrackTrack[]> {
      const { db } = context
      await find(context, id)
      return (await selectFilesOf(db, id, SOUNDTRACK.category)).map((row) => toTrackView(row, app.resources.marked))
    },

    /**
     * Stores a manual beside the artwork of a ROM and replaces the former one.
     *
     * @throws ApiError INSUFFICIENT_PERMISSIONS to replace one without the grant to delete
     */
    async addManual (request: FastifyRequest, id: number): Promise<void> {
      const name = readFileName(request, MANUAL, true)
      const caller = callerOf(request)
      const rom = await find({ db: request.db, caller }, id)
      if (rom.path_manual !== null && rom.path_manual !== '') requireGrant(caller, 'roms', 'delete')
      const path = `${artworkFolder(rom.platform_id, id)}/manual/${id}${extname(name).toLowerCase()}`
      const arrived = await receive(request, readGivenName(request), dirname(join(resourcesDir, path)))
      await rename(arrived.path, join(resourcesDir, path))
      await writeManual(app.db, id, path)
      if (rom.path_manual !== null && basename(rom.path_manual) !== basename(path)) {
        await rm(join(resourcesDir, rom.path_manual), { force: true })
      }
      await app.editing.announce(id)
    },

    /** @throws ApiError NOT_FOUND if the ROM has no manual */
    async removeManual (context: Context, id: number): Promise<void> {
      const { path_manual: path } = await find(context, id)
      if (path === null || path === '') throw notFound('No manual found for this ROM')
      await writeManual(app.db, id, null)
      await rm(join(resourcesDir, path), { force: true })
      await app.editing.announce(id)
    },

    /** @throws ApiError BAD_REQUEST without an address, or if the download fails */
    async refetchManual (context: Context, id: number): Promise<void> {
      const { url_manual: url } = await find(context, id)
      if (url === null || url === '') throw badRequest('No scraped manual URL available for this ROM')
      await app.editing.refetchManual(id, url)
    }
  }
}
