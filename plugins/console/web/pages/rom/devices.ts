import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'

type Device = components['schemas']['Device']

/** The devices of the person. */
export const useDevices = () => useResource('devices', (signal) => call(api.GET('/api/devices', { signal })), { 'sync:started': true })

/** Returns the name that a person knows a device by. */
export const nameOfDevice = ({ name, hostname, client, device_id: id }: Pick<Device, 'name' | 'hostname' | 'client' | 'device_id'>): string =>
  name || hostname || client || id.slice(0, 8)
