import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import type { Caller } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import type { Publish } from '../../core/sockets/sockets.ts'
import { devicesConfig } from './config.ts'
import type { Presence } from './presence.ts'

/** Events from the server to a device on `/devices`, with their payloads. Each feature adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface DeviceEvents {}

export const DEVICE_NAMESPACE = '/devices'

/** Returns the token of a handshake: from its payload, or else from its header. */
function readToken ({ auth, headers }: Socket['handshake']): string | null {
  const token: unknown = auth.token ?? ''
  if (token !== '') return typeof token === 'string' ? token : null
  return /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null
}

/** Admits devices with their own token. Events for the room of a device reach its sockets in every process. */
export function openDeviceNamespace (app: FastifyInstance, config: Config, presence: Presence): Publish<DeviceEvents> {
  async function identify ({ handshake }: Socket): Promise<Caller | null> {
    const token = readToken(handshake)
    const caller = token === null ? null : await app.auth.identifyToken(token, handshake.address)
    const isDevice = caller?.credential === 'token' && caller.device_id !== null && caller.scopes.has('devices.read')
    return isDevice ? caller : null
  }

  return app.sockets.openNamespace<DeviceEvents>(DEVICE_NAMESPACE, {
    refusal: devicesConfig.of(config).install_enabled ? null : 'disabled',
    identify,
    connected (socket, { device_id: deviceId }) {
      if (deviceId !== null) presence.add(socket, deviceId)
    }
  })
}
