import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { badRequest, conflict, forbidden, notFound } from '../../core/errors.ts'
import { userRoom } from '../../core/sockets/sockets.ts'
import { devicesConfig } from '../devices/config.ts'
import type { Device } from '../devices/entities.ts'
import { type Game, findGame } from './game-rows.ts'
import { createInstallRows } from './rows.ts'
import type { InstallRequestView, ReportInstall } from './schemas.ts'
import { type InstallRow, toInstallView } from './views.ts'

type Reference = string | number

/** Number of tries, because a live request may end between the failed insert and the select. */
const ATTEMPTS_MAX = 5

const installNotFound = (id: string) => notFound(`Install request with ID '${id}' not found`)
const isItself = (caller: Caller, device: Device) => caller.credential === 'token' && caller.device_id === device.id

export function createInstalls (app: FastifyInstance, config: Config) {
  const { install_excluded_platforms: excluded, install_request_ttl_days: ttlDays } = devicesConfig.of(config)
  const excludedSlugs = new Set(excluded.map((slug) => slug.toLowerCase()))
  const rows = createInstallRows(ttlDays)

  /** Returns a device of the caller; a token that is bound to a device finds only that device. */
  async function findDevice ({ db, caller }: Context, reference: Reference): Promise<Device> {
    const device = await app.devices.find(db, caller.id, reference)
    const isBound = caller.credential === 'token' && caller.device_id !== null
    if (isBound && !isItself(caller, device)) throw notFound(`Device with ID '${reference}' not found`)
    return device
  }

  /** Returns the device that calls. */
  async function findSelf (context: Context, reference: Reference): Promise<Device> {
    const { caller } = context
    const device = await findDevice(context, reference)
    if (!isItself(caller, device)) throw forbidden('Only the device itself may send this request; use a token that is bound to it')
    return device
  }

  /** Publishes a request to the open clients of its user. */
  function announce (row: InstallRow): InstallRequestView {
    const view = toInstallView(row)
    app.sockets.publish(userRoom(row.user_id), 'install:updated', view)
    return view
  }

  /** @throws ApiError unless the game may be installed on the device and has files */
  function checkInstallable (device: Device, { name, platform_slug: slug, file_ids: files }: Game): void {
    if (device.capabilities?.remote_install !== true) {
      throw badRequest(`Device '${device.device_id}' cannot install games, because its capabilities lack remote_install; choose another device`)
    }
    if (excludedSlugs.has(slug.toLowerCase())) {
      throw badRequest(`Games for '${slug}' are not sent to devices; fetch '${name}' on the device itself`)
    }
    if (files.length === 0) throw badRequest(`'${name}' has no file to install; scan its platform when the file is back`)
  }

  /** Creates a request, unless there is a live one. */
  async function ensure (
    context: Context, device: Device, romId: number, files: number[]
  ): Promise<{ row: InstallRow, isNew: boolean }> {
    const { db, caller } = context
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

  /** Notifies the requester of the result. */
  async function notify (device: Device, game: Game, row: InstallRow): Promise<void> {
    await app.notifications.notify({
      kind: row.status === 'failed' ? 'device_install_failed' : 'device_install_completed',
      to: [row.user_id],
      data: {
        rom_id: row.rom_id,
        rom_name: game.name,
        device_name: device.name ?? device.device_id,
        status: row.status,
        reason: row.reason
      }
    })
  }

  return {
    /** Requests that a device installs a game; returns the live request if there is one. */
    async request (
      context: Context, reference: Reference, romId: number
    ): Promise<{ view: InstallRequestView, isNew: boolean }> {
      const device = await findDevice(context, reference)
      const game = await findGame(context, romId)
      if (game === null) throw notFound(`ROM with ID '${romId}' not found`)
      checkInstallable(device, game)
      const { row, isNew } = await ensure(context, device, romId, game.file_ids)
      if (!isNew) return { view: toInstallView(row), isNew }
      app.devices.publish(device.id, 'install:queued', { id: row.id, rom_id: romId })
      return { view: announce(row), isNew }
    },

    /** Lists the live requests of a device, oldest first. */
    async list (context: Context, reference: Reference): Promise<InstallRequestView[]> {
      const { id } = await findDevice(context, reference)
      return (await rows.select(context, { device_id: id })).map(toInstallView)
    },

    /** Lists the caller's live requests for a ROM on all devices, oldest first. */
    async listOfRom (context: Context, romId: number): Promise<InstallRequestView[]> {
      const { caller } = context
      if (await findGame(context, romId) === null) throw notFound(`ROM with ID '${romId}' not found`)
      return (await rows.select(context, { rom_id: romId, user_id: caller.id })).map(toInstallView)
    },

    /** Claims the pending requests of the calling device. @returns all claimed requests without a report */
    async claim (context: Context, reference: Reference): Promise<InstallRequestView[]> {
      const { id } = await findSelf(context, reference)
      for (const row of await rows.claimPending(context, id)) announce(row)
      return (await rows.select(context, { device_id: id, status: 'taken' })).map(toInstallView)
    },

    /**
     * Stores the result that the calling device reports for a claimed request. A repeated report changes nothing, and
     * for a ROM that is hidden by now no event is sent.
     */
    async report (
      context: Context, reference: Reference, id: string, input: ReportInstall
    ): Promise<InstallRequestView> {
      const { db } = context
      const device = await findSelf(context, reference)
      const row = await rows.finish(db, device.id, id, input)
      if (row === null) {
        const ended = await rows.findEnded(db, device.id, id, input.status)
        if (ended !== null) return toInstallView(ended)
        if (await rows.isPending(db, device.id, id)) throw conflict(`Install request '${id}' was not claimed yet; claim it first`)
        throw installNotFound(id)
      }
      const game = await findGame(context, row.rom_id)
      if (game === null) return toInstallView(row)
      const view = announce(row)
      await notify(device, game, row)
      return view
    },

    async cancel (context: Context, reference: Reference, id: string): Promise<InstallRequestView> {
      const device = await findDevice(context, reference)
      const row = await rows.cancel(context, device.id, id)
      if (row === null) throw installNotFound(id)
      app.devices.publish(device.id, 'install:cancelled', { id: row.id, rom_id: row.rom_id })
      return announce(row)
    },

    purge: async (): Promise<void> => { await rows.purge(app.db) }
  }
}
export type Installs = ReturnType<typeof createInstalls>
