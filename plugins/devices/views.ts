import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../core/typebox.ts'
import type { Device } from './entities.ts'
import { maskSyncConfig } from './sync-config.ts'
import type { DeviceRecordSchema, DeviceView, RegisteredDevice } from './schemas.ts'

export const toDeviceView = (device: Device): DeviceView =>
  ({ id: device.device_id, number: device.id, ...toRecord(device) })

export const toRegisteredDevice = (device: Device, isNumbered: boolean): RegisteredDevice =>
  ({ ...(isNumbered ? { id: device.id } : {}), ...toRecord(device) })

/** Converts a device to its record; secrets are masked. */
function toRecord (device: Device): Static<typeof DeviceRecordSchema> {
  const mac = device.mac_address ?? null
  return {
    device_id: device.device_id,
    user_id: device.user.id,
    name: device.name ?? null,
    platform: device.platform ?? null,
    hostname: device.hostname ?? null,
    mac,
    mac_address: mac,
    ip_address: device.ip_address ?? null,
    client: device.client ?? null,
    client_version: device.client_version ?? null,
    client_device_identifier: device.client_device_identifier ?? null,
    sync_mode: device.sync_mode,
    sync_enabled: device.sync_enabled,
    sync_config: maskSyncConfig(device.sync_config ?? null),
    paths: device.paths ?? null,
    capabilities: device.capabilities ?? null,
    last_seen: formatDate(device.last_seen ?? null),
    created_at: formatDate(device.created_at),
    updated_at: formatDate(device.updated_at)
  }
}
