import type { Caller } from '../../core/access/auth.ts'
import type { Secrets } from '../../core/access/secrets.ts'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { ApiError } from '../../core/errors.ts'
import { toStorable } from '../../core/database/json.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { lockUser } from '../users/rows.ts'
import { User } from '../users/entities.ts'
import { Device } from './entities.ts'
import { checkQuota } from './quota.ts'
import { bindToken, deleteSyncs, recognizeDevice } from './rows.ts'
import type { RegisterDevice, UpdateDevice } from './schemas.ts'
import { NEW_DEVICE, checkServerSync } from './server-sync-access.ts'
import { type SyncConfig, checkSize, sealSyncConfig } from './sync-config.ts'

const normalizeMac = (mac: string) => mac.toLowerCase().replaceAll(/[:-]/g, '')

/** Returns the hardware address from either field; undefined if none was sent, null for an empty one. */
function readMac ({ mac, mac_address: address }: UpdateDevice): string | null | undefined {
  const given = mac === undefined ? address : mac
  return given === undefined ? undefined : given || null
}

/** Columns that store their input unchanged. No other input reaches the row unchecked. */
const PLAIN = ['name', 'platform', 'hostname', 'ip_address', 'client', 'client_version', 'paths', 'capabilities'] as const
type Fields = Partial<Pick<Device, typeof PLAIN[number] | 'mac_address' | 'sync_mode' | 'sync_enabled' | 'sync_config'>>

/** Converts input to columns and skips keys that were not sent. */
export function readFields (secrets: Secrets, input: UpdateDevice, stored: SyncConfig | null): Fields {
  const { sync_config: config, sync_mode: mode, sync_enabled: isEnabled } = input
  if (config) checkSize(config)
  const mac = readMac(input)
  // JSON has no undefined, so the conversion drops keys that were not sent.
  return toStorable({
    ...Object.fromEntries(PLAIN.map((key) => [key, input[key]])),
    mac_address: mac,
    sync_mode: mode === null ? 'push_pull' : mode,
    sync_enabled: isEnabled === null ? true : isEnabled,
    sync_config: config ? sealSyncConfig(secrets, config, stored) : config
  })
}

/** True if a registration follows the specification; other apps send `client` or `client_version`. */
export const isNumbered = ({ client, client_version: version }: RegisterDevice): boolean => !client && !version

const readIdentifier = ({ client_device_identifier: identifier }: RegisterDevice) => identifier?.toWellFormed() ?? null

async function findKnown (tx: Db, userId: number, input: RegisterDevice): Promise<Device | null> {
  const mac = readMac(input)
  const id = await recognizeDevice(tx, userId, {
    identifier: readIdentifier(input),
    mac: mac ? normalizeMac(mac) : null, hostname: input.hostname || null, platform: input.platform || null
  })
  return id === null ? null : await tx.em.findOne(Device, { id })
}

async function refreshDevice (tx: Db, device: Device, input: RegisterDevice): Promise<Device> {
  if (input.allow_existing === false) {
    throw new ApiError('CONFLICT', `This device is already registered as '${device.device_id}'; use that id, or send allow_duplicate`,
      { fields: { error: 'device_exists', device_id: device.device_id } })
  }
  device.last_seen = databaseDate()
  if (input.capabilities) device.capabilities = toStorable(input.capabilities)
  // The lookup prefers the identifier, which means that no other device of the user has it.
  device.client_device_identifier ??= readIdentifier(input)
  await tx.em.flush()
  if (input.reset_syncs === true) await deleteSyncs(tx, device.id)
  return device
}

async function findOrAdd (
  tx: Db, secrets: Secrets, caller: Caller, input: RegisterDevice
): Promise<{ device: Device, isNew: boolean }> {
  const existing = input.allow_duplicate === true ? null : await findKnown(tx, caller.id, input)
  if (existing !== null) return { device: await refreshDevice(tx, existing, input), isNew: false }
  const trust = checkServerSync(caller, input, NEW_DEVICE)
  await checkQuota(tx, caller.id)
  const identifier = readIdentifier(input)
  // The identifier stays with the device that has it; a duplicate gets none.
  const isTaken = identifier !== null &&
    await tx.em.count(Device, { user: caller.id, client_device_identifier: identifier }) > 0
  const device = tx.em.create(Device, {
    ...readFields(secrets, input, null),
    ...trust,
    client_device_identifier: isTaken ? null : identifier,
    is_numbered: isNumbered(input),
    user: tx.em.getReference(User, caller.id), last_seen: databaseDate()
  })
  await tx.em.persist(device).flush()
  return { device, isNew: true }
}

/**
 * Registers a device of the caller, or returns a known one. The caller's token is bound to the device, unless the token
 * is bound already or the device has a token.
 *
 * @throws ApiError CONFLICT if the device is known and allow_existing is false, FORBIDDEN for settings that need more
 *   scopes
 */
export async function registerDevice (
  db: Db, secrets: Secrets, caller: Caller, input: RegisterDevice
): Promise<{ device: Device, isNew: boolean }> {
  return await inTransaction(db, async (tx) => {
    // The lock serializes the registrations of a user, because two at once must not create two devices.
    await lockUser(tx, caller.id)
    const registered = await findOrAdd(tx, secrets, caller, input)
    const { device: { id }, isNew } = registered
    await bindToken(tx, { device_id: id, token_id: caller.token_id, is_new: isNew })
    return registered
  })
}
