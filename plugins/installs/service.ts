import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { devicesConfig } from '../devices/config.ts'
import { announceInstall } from './announce-install.ts'
import { type Reference, findDevice } from './find-device.ts'
import { findGame } from './game-rows.ts'
import { createInstallReports, installNotFound } from './report-install.ts'
import { createInstallRequests } from './request-install.ts'
import { createInstallRows } from './rows.ts'
import type { InstallRequestView } from './schemas.ts'
import { toInstallView } from './views.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

export function createInstalls (app: FastifyInstance, config: Config) {
  const rows = createInstallRows(devicesConfig.of(config).install_request_ttl_days)
  return {
    ...createInstallReports(app, rows),
    request: createInstallRequests(app, config, rows),

    /** Lists the live requests of a device, oldest first. */
    async list (context: Context, reference: Reference): Promise<InstallRequestView[]> {
      const { id } = await findDevice(app.devices, context, reference)
      return (await rows.select(context, { device_id: id })).map(toInstallView)
    },

    /** Lists the caller's live requests for a ROM on all devices, oldest first. */
    async listOfRom (context: Context, romId: number): Promise<InstallRequestView[]> {
      const { caller } = context
      if (await findGame(context, romId) === null) throw romNotFound(romId)
      return (await rows.select(context, { rom_id: romId, user_id: caller.id })).map(toInstallView)
    },

    /** Cancels a request. @throws ApiError NOT_FOUND if it ended */
    async cancel (context: Context, reference: Reference, id: string): Promise<InstallRequestView> {
      const device = await findDevice(app.devices, context, reference)
      const row = await rows.cancel(context, device.id, id)
      if (row === null) throw installNotFound(id)
      app.devices.publish(device.id, 'install:cancelled', { id: row.id, rom_id: row.rom_id })
      return announceInstall(app, row)
    },

    purge: async (): Promise<void> => { await rows.purge(app.db) }
  }
}
export type Installs = ReturnType<typeof createInstalls>
