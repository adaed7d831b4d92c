import { randomUUID } from 'node:crypto'
import { basename, extname } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import { type Context, contextOf } from '../../core/access/context.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { createSyncedWriter } from '../../core/store/store-writer.ts'
import { artworkFolder } from '../artwork/artwork.ts'
import { EDIT_PREFIX, createStaging } from '../artwork/staging.ts'
import { resourceKey } from '../resources/resource-key.ts'
import { MANUAL } from './kinds.ts'
import { writeManual } from './rows.ts'
import type { RomFileServices } from './services.ts'
import { findTarget } from './target-rom.ts'
import { readFileName, receive } from './upload.ts'

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
  const staging = createStaging(app.db, resourcesDir, `${EDIT_PREFIX}${randomUUID()}`)
  try {
    const arrived = await receive(request, staging.folder)
    await createSyncedWriter(app.store).move(arrived.path, resourceKey(path))
  } finally {
    await staging.remove()
  }
  await writeManual(app.db, id, path)
  if (rom.path_manual !== null && basename(rom.path_manual) !== basename(path)) {
    await app.store.delete([resourceKey(rom.path_manual)])
  }
  await app.editing.announce(id)
}

/** @throws ApiError NOT_FOUND if the ROM has no manual */
export async function removeManual (
  { app }: RomFileServices, context: Context, id: number
): Promise<void> {
  const { path_manual: path } = await findTarget(context, id)
  if (path === null || path === '') throw notFound('No manual found for this ROM')
  await writeManual(app.db, id, null)
  await app.store.delete([resourceKey(path)])
  await app.editing.announce(id)
}

/** Downloads the manual again. @throws ApiError BAD_REQUEST without an address, or if the download fails */
export async function refetchManual ({ app }: RomFileServices, context: Context, id: number): Promise<void> {
  const { url_manual: url } = await findTarget(context, id)
  if (url === null || url === '') throw badRequest('No scraped manual URL available for this ROM')
  await app.editing.refetchManual(id, url)
}
