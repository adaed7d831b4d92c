import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { conflict, notFound } from '../../core/errors.ts'
import type { Device } from '../devices/entities.ts'
import { announceInstall } from './announce-install.ts'
import { type Reference, findSelf } from './find-device.ts'
import { type Game, findGame } from './game-rows.ts'
import type { InstallRows } from './rows.ts'
import type { InstallRequestView, ReportInstall } from './schemas.ts'
import { type InstallRow, toInstallView } from './views.ts'

export const installNotFound = (id: string) => notFound(`Install request with ID '${id}' not found`)

/** Notifies the requester of the result. */
async function notify ({ notifications }: FastifyInstance, device: Device, game: Game, row: InstallRow): Promise<void> {
  await notifications.notify({
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

/** Creates the requests that devices send: they claim installs and report the results. */
export function createInstallReports (app: FastifyInstance, rows: InstallRows) {
  return {
    /** Claims the pending requests of the calling device. @returns all claimed requests without a report */
    async claim (context: Context, reference: Reference): Promise<InstallRequestView[]> {
      const { id } = await findSelf(app.devices, context, reference)
      for (const row of await rows.claimPending(context, id)) announceInstall(app, row)
      return (await rows.select(context, { device_id: id, status: 'taken' })).map(toInstallView)
    },

    /**
     * Stores the progress that the calling device reports for a claimed request. For a ROM that is hidden by now no
     * event is sent.
     */
    async reportProgress (
      context: Context, reference: Reference, id: string, percent: number
    ): Promise<InstallRequestView> {
      const device = await findSelf(app.devices, context, reference)
      const row = await rows.storeProgress(context.db, { device_id: device.id, id, percent })
      if (row === null) throw installNotFound(id)
      const { is_news: isNews, ...stored } = row
      if (isNews && await findGame(context, row.rom_id) !== null) announceInstall(app, stored)
      return toInstallView(stored)
    },

    /**
     * Stores the result that the calling device reports for a claimed request. A repeated report changes nothing, and
     * for a ROM that is hidden by now no event is sent.
     */
    async report (
      context: Context, reference: Reference, id: string, input: ReportInstall
    ): Promise<InstallRequestView> {
      const { db } = context
      const device = await findSelf(app.devices, context, reference)
      const row = await rows.finish(db, device.id, id, input)
      if (row === null) {
        const ended = await rows.findEnded(db, device.id, id, input.status)
        if (ended !== null) return toInstallView(ended)
        if (await rows.isPending(db, device.id, id)) throw conflict(`Install request '${id}' was not claimed yet; claim it first`)
        throw installNotFound(id)
      }
      const game = await findGame(context, row.rom_id)
      if (game === null) return toInstallView(row)
      const view = announceInstall(app, row)
      await notify(app, device, game, row)
      return view
    }
  }
}
