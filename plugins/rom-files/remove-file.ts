import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import { resourceKey } from '../resources/resource-key.ts'
import type { FileKind } from './kinds.ts'
import { type FoundFile, type TargetRom, deleteFile, selectFilesOf } from './rows.ts'
import type { RomFileServices } from './services.ts'
import { findTarget, movedError, withWriteErrors } from './target-rom.ts'

/** @property isPermanent true to delete a file at once, without the trash */
interface Removal { isPermanent: boolean, userId: number }

/** The category of a file and the error text without such a file; a null category accepts any. */
interface FileKindQuery { category: FileKind['category'] | null, missing: string }

const ANY_KIND: FileKindQuery = { category: null, missing: 'File not found' }

async function findFile (
  db: Db, romId: number, fileId: number, { category, missing }: FileKindQuery
): Promise<FoundFile> {
  const file = (await selectFilesOf(db, romId, category)).find((one) => one.id === fileId)
  if (file === undefined) throw notFound(missing)
  return file
}

/** Removes a file from the library and its row, and announces the ROM's change. */
export async function removeFile (
  { app }: RomFileServices, rom: TargetRom, file: FoundFile, { isPermanent, userId }: Removal
): Promise<void> {
  const disposal = app.trash.open(isPermanent, userId)
  const trashId = await disposal.storeFile(file.id)
  let isMoved = false
  try {
    isMoved = await withWriteErrors(app, rom, () => disposal.move({ ...rom, ...file }))
  } finally {
    if (!isMoved && trashId !== null) await disposal.deleteRows([trashId])
  }
  if (!await deleteFile(app.db, rom, file, isMoved)) throw movedError()
  await disposal.finish()
  const cover = file.track_meta?.cover_path ?? null
  if (cover !== null) await app.store.delete([resourceKey(cover)])
  await app.editing.announce(rom.id)
}

/** Moves a file of a kind to the trash. @throws ApiError NOT_FOUND unless the file is of that kind */
export async function removeFileOfKind (
  services: RomFileServices, context: Context, { id, file_id: fileId }: { id: number, file_id: number }, kind: FileKind
): Promise<void> {
  const rom = await findTarget(context, id)
  const file = await findFile(context.db, rom.id, fileId, kind)
  await removeFile(services, rom, file, { isPermanent: false, userId: context.caller.id })
}

/**
 * Removes any file of a ROM. A ROM without files is missing from the library.
 *
 * @throws ApiError NOT_FOUND unless the file belongs to the ROM
 */
export async function removeAnyFile (
  services: RomFileServices, context: Context, { rom_id: id, file_id: fileId }: { rom_id: number, file_id: number },
  isPermanent: boolean
): Promise<void> {
  const rom = await findTarget(context, id)
  const file = await findFile(context.db, rom.id, fileId, ANY_KIND)
  await removeFile(services, rom, file, { isPermanent, userId: context.caller.id })
  if (!file.is_top_level || !rom.is_folder) return
  await services.app.scans.scanEntries({ id: rom.platform_id, library_id: rom.library_id }, [rom.fs_name], null)
}
