import { rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import { type Context, contextOf } from '../../core/access/context.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { artworkFolder } from '../artwork/artwork.ts'
import { MANUAL } from './kinds.ts'
import { writeManual } from './rows.ts'
import type { RomFileServices } from './services.ts'
import { findTarget } from './target-rom.ts'
import { readFileName, readGivenName, receive } from './upload.ts'

/**
 * Stores a manual beside the artwork of a ROM and replaces the former one.
 *
 * @throws ApiError INSUFFICIENT_PERMISSIONS to replace one without the grant to delete
 */
export async function addManual (
  { app, resourcesDir }: RomFileServices, request: FastifyRequest, id: number
): Promise<void> {
  const name = readFileName(request, MANUAL, true)
  const context = contextOf(request)
  const rom = await findTarget(context, id)
  if (rom.path_manual !== null && rom.path_manual !== '') requireGrant(context.caller, 'roms', 'delete')
  const path = `${artworkFolder(rom.platform_id, id)}/manual/${id}${extname(name).toLowerCase()}`
  const arrived = await receive(request, readGivenName(request), dirname(join(resourcesDir, path)))
  await rename(arrived.path, join(resourcesDir, path))
  await writeManual(app.db, id, path)
  if (rom.path_manual !== null && basename(rom.path_manual) !== basename(path)) {
    await rm(join(resourcesDir, rom.path_manual), { force: true })
  }
  await app.editing.announce(id)
}

/** @throws ApiError NOT_FOUND if the ROM has no manual */
export async function removeManual (
  { app, resourcesDir }: RomFileServices, context: Context, id: number
): Promise<void> {
  const { path_manual: path } = await findTarget(context, id)
  if (path === null || path === '') throw notFound('No manual found for this ROM')
  await writeManual(app.db, id, null)
  await rm(join(resourcesDir, path), { force: true })
  await app.editing.announce(id)
}

/** Downloads the manual again. @throws ApiError BAD_REQUEST without an address, or if the download fails */
export async function refetchManual ({ app }: RomFileServices, context: Context, id: number): Promise<void> {
  const { url_manual: url } = await findTarget(context, id)
  if (url === null || url === '') throw badRequest('No scraped manual URL available for this ROM')
  await app.editing.refetchManual(id, url)
}
