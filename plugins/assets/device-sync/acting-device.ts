import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest, forbidden } from '../../../core/errors.ts'
import type { Scope } from '../../../core/access/scopes.ts'
import type { Device } from '../../devices/entities.ts'

/** The device that sent a request, or that a request is about. */
export interface ActingDevice {
  device: Device
  /** True if the request names the device; otherwise the device comes from the token. */
  is_named: boolean
}

type Reference = number | string | undefined

/** Creates access to the devices of requests about assets. */
export function createActingDevices (app: Pick<FastifyInstance, 'devices' | 'sync'>) {
  /**
   * Finds the device that a request names, or else the device of its token; null if there is none.
   *
   * @throws ApiError FORBIDDEN if the device is named without the scope for devices, NOT_FOUND if it is not the
   *   caller's
   */
  async function find ({ db, caller }: Context, reference: Reference, scope: Scope): Promise<ActingDevice | null> {
    const isNamed = reference !== undefined && reference !== ''
    if (isNamed && !caller.scopes.has(scope)) {
      throw forbidden(`device_id needs the scope ${scope}; remove device_id, or use a token with this scope`)
    }
    const deviceReference = isNamed ? reference : caller.device_id
    if (deviceReference === null) return null
    return { device: await app.devices.find(db, caller.id, deviceReference), is_named: isNamed }
  }

  return {
    find,

    /** Finds the device that sends content. @throws ApiError as `find`, and BAD_REQUEST if its sync is off */
    async findSender (context: Context, reference: Reference): Promise<ActingDevice | null> {
      const acting = await find(context, reference, 'devices.write')
      if (acting !== null) app.devices.requireSync(acting.device)
      return acting
    },

    /** Finds the device. @throws ApiError BAD_REQUEST if neither the request nor its token names one, NOT_FOUND */
    async require (context: Context, reference: Reference): Promise<Device> {
      const acting = await find(context, reference, 'devices.write')
      if (acting === null) throw badRequest('device_id is missing; send the id of one of your devices, or use a token that is bound to one')
      return acting.device
    },

    /** Locks the device, if there is one, until the transaction ends. @throws ApiError NOT_FOUND if it was deleted */
    async lock (tx: Db, acting: ActingDevice | null): Promise<void> {
      if (acting !== null) await app.devices.lock(tx, acting.device)
    },

    /** Updates the time when the device was last seen, and counts a transfer in its sync session. */
    async count (
      { db, caller }: Context, acting: ActingDevice | null, session: string | undefined, fileName: string
    ): Promise<void> {
      if (acting !== null) await app.devices.touch(db, acting.device.id)
      if (session === undefined || session === '') return
      await app.sync.countTransfer(db, caller.id, session, { file_name: fileName })
    }
  }
}
export type ActingDevices = ReturnType<typeof createActingDevices>
