import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyRequest } from 'fastify'
import { appDevices } from './app-devices.ts'
import { findBrowserDevice } from './browser.ts'
import { Device } from './entities.ts'

export function createDevices () {
  return {
    ...appDevices,

    /** The browser that sends a request as a device of a user. */
    findBrowser: async (em: EntityManager, userId: number, request: FastifyRequest): Promise<Device> =>
      await findBrowserDevice(em, { userId, userAgent: request.headers['user-agent'] ?? '', address: request.ip }),

    /** The UUID of a caller's device, which is its id on the wire; null for none. */
    async findUuid (em: EntityManager, id: number | null): Promise<string | null> {
      if (id === null) return null
      const device = await em.findOne(Device, { id }, { fields: ['device_id'] })
      return device?.device_id ?? null
    }
  }
}
