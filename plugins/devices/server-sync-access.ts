import { type Caller, isAdministrator } from '../../core/access/auth.ts'
import { forbidden } from '../../core/errors.ts'
import type { Device } from './entities.ts'
import type { UpdateDevice } from './schemas.ts'
import { changesConnection } from './sync-config.ts'

type SyncSettings = Pick<Device, 'sync_mode' | 'sync_enabled'> & Partial<Pick<Device, 'sync_config'>>

/** Settings of a device that does not exist yet. */
export const NEW_DEVICE: SyncSettings = { sync_mode: 'push_pull', sync_enabled: true }

/** True for modes in which the server itself reads and writes the saves of a device. */
const isServerMode = (mode: Device['sync_mode']) => mode === 'push_pull' || mode === 'file_transfer'

function startsServerSync (input: UpdateDevice, device: SyncSettings): boolean {
  const mode = input.sync_mode === undefined ? device.sync_mode : input.sync_mode ?? 'push_pull'
  const isEnabled = input.sync_enabled === undefined ? device.sync_enabled : input.sync_enabled ?? true
  return isServerMode(mode) && isEnabled && (mode !== device.sync_mode || !device.sync_enabled)
}

/**
 * Checks that the caller may change how the server itself syncs a device. The server acts as the owner of the device,
 * so the caller needs the scopes for saves.
 *
 * @returns the column to store with a change of the connection
 * @throws ApiError FORBIDDEN
 */
export function checkServerSync (
  caller: Caller, input: UpdateDevice, device: SyncSettings
): Partial<Pick<Device, 'is_ssh_trusted'>> {
  const { sync_config: config } = input
  const reconnects = config !== undefined && changesConnection(config, device.sync_config ?? null)
  const isAllowed = caller.scopes.has('assets.read') && caller.scopes.has('assets.write')
  if (!isAllowed && (reconnects || startsServerSync(input, device))) {
    throw forbidden('Changing ssh_* or save_directories of sync_config, or letting the server sync the device, also needs the ' +
      'scopes assets.read and assets.write; use a token with both')
  }
  return reconnects ? { is_ssh_trusted: isAdministrator(caller) } : {}
}
