import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyRequest } from 'fastify'
import { notFound } from '../../core/errors.ts'
import { appDevices } from './app-devices.ts'
import { findBrowserDevice } from './browser.ts'
import { Device } from './entities.ts'

const NUMBER = /^[0-9]{1,9}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createDevices () {
  return {
    ...appDevices,

    /** The browser that sends a request as a device of a user. */
    findBrowser: async (em: EntityManager, userId: number, request: FastifyRequest): Promise<Device> =>
      await findBrowserDevice(em, { userId, userAgent: request.headers['user-agent'] ?? '', address: request.ip }),

    /**
     * A user's device by either of its ids.
     *
     * @throws ApiError NOT_FOUND when there is none, or it is another user's
     */
    async find (em: EntityManager, userId: number, reference: number | string): Promise<Device> {
      const text = String(reference)
      const id = NUMBER.test(text) ? { id: Number(text) } : UUID.test(text) ? { device_id: text.toLowerCase() } : null
      const device = id === null ? null : await em.findOne(Device, { user: userId, ...id })
      if (device === null) throw notFound(`Device with ID '${text}' not found`)
      return device
    },

    /** The UUID of a caller's device, which is its id on the wire; null for none. */
    async findUuid (em: EntityManager, id: number | null): Promise<string | null> {
      if (id === null) return null
      const device = await em.findOne(Device, { id }, { fields: ['device_id'] })
      return device?.device_id ?? null
    }
  }
}
