import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { PathRefusedError } from '../../core/files/safe-path.ts'
import { libraryReadOnly } from '../library/read-only.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { type TargetRom, selectTarget } from './rows.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

export const movedError = () =>
  conflict('The ROM was deleted, renamed or moved at the same moment; fetch its current state and try again')

/** @throws ApiError NOT_FOUND unless the caller sees the ROM */
export async function findTarget (context: Context, id: number): Promise<TargetRom> {
  const rom = await selectTarget(context, id)
  if (rom === null) throw romNotFound(id)
  return rom
}

/**
 * Returns the library of a ROM whose files change.
 *
 * @throws ApiError CONFLICT if it is read-only, or its disk has changed · UNAVAILABLE while it is not mounted
 */
export async function openLibrary (
  { library }: Pick<FastifyInstance, 'library'>, rom: TargetRom
): Promise<LibraryRoot> {
  const root = await library.getWritable(rom.library_id)
  await library.requireFolder(root, rom.platform_id, rom.fs_path)
  return root
}

/** Converts write errors of the library's disk to refusals, because they are not faults of the server. */
export async function withWriteErrors<T> (
  { library }: Pick<FastifyInstance, 'library'>, rom: Pick<TargetRom, 'library_id'>, work: () => Promise<T>
): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (err instanceof PathRefusedError) throw badRequest(err.message)
    if (errorCode(err) === 'ENOENT') throw movedError()
    if (errorCode(err) === 'EROFS') throw libraryReadOnly(await library.get(rom.library_id))
    if (!['EACCES', 'EPERM'].includes(errorCode(err))) throw err
    throw conflict('The file cannot be stored: there is no permission to write. Make the library writable for the server')
  }
}
