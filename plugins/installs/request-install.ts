import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import { devicesConfig } from '../devices/config.ts'
import type { Device } from '../devices/entities.ts'
import { type Reference, findDevice } from './find-device.ts'
import { type Game, findGame } from './game-rows.ts'
import type { InstallRows } from './rows.ts'
import type { InstallRequestView } from './schemas.ts'
import { announceInstall } from './announce-install.ts'
import { type InstallRow, toInstallView } from './views.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

/** Number of tries, because a live request may end between the failed insert and the select. */
const ATTEMPTS_MAX = 5

/** @throws ApiError unless the game may be installed on the device and has files */
function checkInstallable (
  excludedSlugs: ReadonlySet<string>, device: Device, { name, platform_slug: slug, file_ids: files }: Game
): void {
  if (device.capabilities?.remote_install !== true) {
    throw badRequest(`Device '${device.device_id}' cannot install games, because its capabilities lack remote_install; choose another device`)
  }
  if (excludedSlugs.has(slug.toLowerCase())) {
    throw badRequest(`Games for '${slug}' are not sent to devices; fetch '${name}' on the device itself`)
  }
  if (files.length === 0) throw badRequest(`'${name}' has no file to install; scan its platform when the file is back`)
}

/** Creates a request, unless there is a live one. */
async function ensureRequest (
  rows: InstallRows, context: Context, device: Device, game: Pick<InstallRow, 'rom_id' | 'file_ids'>
): Promise<{ row: InstallRow, isNew: boolean }> {
  const { db, caller } = context
  const { rom_id: romId, file_ids: files } = game
  const same = { user_id: caller.id, device_id: device.id, rom_id: romId }
  await rows.dropStale(db, device.id, romId)
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const row = await rows.insert(db, { ...same, file_ids: files })
    if (row !== null) return { row, isNew: true }
    const [live] = await rows.select(context, same)
    if (live !== undefined) return { row: live, isNew: false }
  }
  throw conflict(`ROM with ID '${romId}' is being requested by another request at this moment; try again`)
}

/** Creates the function that requests that a device installs a game. */
export function createInstallRequests (app: FastifyInstance, config: Config, rows: InstallRows) {
  const excludedSlugs = new Set(devicesConfig.of(config).install_excluded_platforms.map((slug) => slug.toLowerCase()))

  /** Requests that a device installs a game; returns the live request if there is one. */
  return async function request (
    context: Context, reference: Reference, romId: number
  ): Promise<{ view: InstallRequestView, isNew: boolean }> {
    const device = await findDevice(app.devices, context, reference)
    const game = await findGame(context, romId)
    if (game === null) throw romNotFound(romId)
    checkInstallable(excludedSlugs, device, game)
    const { row, isNew } = await ensureRequest(rows, context, device, { rom_id: romId, file_ids: game.file_ids })
    if (!isNew) return { view: toInstallView(row), isNew }
    app.devices.publish(device.id, 'install:queued', { id: row.id, rom_id: romId })
    return { view: announceInstall(app, row), isNew }
  }
}
