import { Value } from '@sinclair/typebox/value'
import { StringEnum } from '../../../core/typebox.ts'
import { isScope } from '../../../core/access/scopes.ts'
import { tokenPrefixes } from '../../../core/access/names.ts'
import { type ImportedSync, insertImportedSyncs } from '../../assets/import-rows.ts'
import { SYNC_MODES } from '../../devices/entities.ts'
import { findKnownDevice, insertImportedDevice } from '../../devices/import-rows.ts'
import { hasAllDevices } from '../../devices/quota.ts'
import { type SyncConfig, checkSize, sealSyncConfig } from '../../devices/sync-config.ts'
import { limitDuration } from '../../play-sessions/entries.ts'
import { insertImportedPlays } from '../../play-sessions/import-rows.ts'
import { insertImportedSessions } from '../../sync/import-rows.ts'
import { insertImportedTokens } from '../../tokens/import-rows.ts'
import { lockUser } from '../../users/rows.ts'
import type { ImportRecord } from '../contract.ts'
import { type Batch, type Stored, type Writer, insertResolved, noRom, noUser, oneByOne, toTime, toTimes } from './writer.ts'

const SyncMode = StringEnum(SYNC_MODES)

/** Returns the settings with sealed secrets; null if they are not usable. A key file of the source is not here. */
function readSyncConfig ({ app, warn }: Batch['services'], record: ImportRecord<'device'>): SyncConfig | null {
  if (record.sync_config === null) return null
  const { ssh_key_path: keyPath, ...config } = record.sync_config
  if (typeof keyPath === 'string' && keyPath !== '') {
    warn(`Device '${record.name ?? record.id}': enter its SSH key again, because key files are not imported`)
  }
  try {
    checkSize(config)
  } catch {
    warn(`Device '${record.name ?? record.id}': its sync settings are too large and were left out`)
    return null
  }
  return sealSyncConfig(app.secrets, config, null)
}

async function writeDevice ({ tx, refs, services }: Batch, record: ImportRecord<'device'>): Promise<Stored> {
  const user = (await refs.users([record]))(record)
  if (user === null) return noUser(record.user_id)
  const uuid = record.device_id?.toLowerCase() ?? crypto.randomUUID()
  const installation = record.client_device_identifier
  const known = await findKnownDevice(tx, { device_id: uuid, user_id: user, installation })
  if (known !== null) {
    return known.user_id === user
      ? { id: known.id, as: 'present' }
      : { reason: 'another user of this server has the device with this id' }
  }
  await lockUser(tx, user)
  if (await hasAllDevices(tx, user)) return { reason: 'its user has the maximum number of devices; delete some, then import again' }
  const config = readSyncConfig(services, record)
  const id = await insertImportedDevice(tx, {
    device_id: uuid,
    user_id: user,
    name: record.name,
    platform: record.platform,
    client: record.client,
    client_version: record.client_version,
    ip_address: record.ip_address,
    mac_address: record.mac_address,
    hostname: record.hostname,
    client_device_identifier: installation,
    sync_mode: Value.Check(SyncMode, record.sync_mode) ? record.sync_mode : 'push_pull',
    sync_enabled: record.sync_enabled,
    sync_config: config,
    // The settings come from a user of the source, so they must not reach this server's own network.
    is_ssh_trusted: config === null,
    is_numbered: false,
    last_seen: toTime(record.last_seen),
    ...toTimes(record)
  })
  return id === null ? { reason: 'another device got this id at the same moment; import again' } : { id, as: 'new' }
}

export const deviceWriter: Writer<'device'> = {
  kind: 'device', idOf: ({ id }) => id, nameOf: ({ name }) => name, write: oneByOne(writeDevice)
}

export const deviceSyncWriter: Writer<'device_sync'> = {
  kind: 'device_sync',
  idOf: ({ device_id: device, asset_id: asset }) => `${device}/${asset}`,
  nameOf: () => null,
  async write ({ tx, refs }, records) {
    const devices = await refs.find('device', records.map((record) => record.device_id))
    const saves = await refs.find('save', records.map((record) => record.asset_id))
    return await insertResolved<ImportRecord<'device_sync'>, ImportedSync>(records, (record) => {
      const [device, save] = [devices.get(record.device_id), saves.get(record.asset_id)]
      if (device === undefined) return { reason: `its device ${record.device_id} was not imported` }
      if (save === undefined) return { reason: `its save ${record.asset_id} was not imported` }
      return {
        row: {
          device_id: device, asset_id: save, last_synced_at: toTime(record.last_synced_at) ?? '', is_untracked: record.is_untracked
        }
      }
    }, async (rows) => {
      const areNew = await insertImportedSyncs(tx, rows)
      return rows.map((row, index) => areNew[index] === true ? row.asset_id : null)
    }, 'the device has synced the save with this server already')
  }
}

const ENDED: Readonly<Record<ImportRecord<'sync_session'>['status'], string>> = {
  pending: 'CANCELLED', in_progress: 'CANCELLED', completed: 'COMPLETED', failed: 'FAILED', cancelled: 'CANCELLED'
}
const COUNT_MAX = 2_147_483_647
const toCount = (count: number) => Math.min(count, COUNT_MAX)

export const syncSessionWriter: Writer<'sync_session'> = {
  kind: 'sync_session',
  idOf: ({ id }) => id,
  nameOf: () => null,
  async write ({ tx, refs }, records) {
    const devices = await refs.find('device', records.map((record) => record.device_id))
    const userOf = await refs.users(records)
    return await insertResolved(records, (record) => {
      const [device, user] = [devices.get(record.device_id), userOf(record)]
      if (device === undefined) return { reason: `its device ${record.device_id} was not imported` }
      if (user === null) return noUser(record.user_id)
      const times = toTimes(record)
      return {
        row: {
          user_id: user,
          device_id: device,
          status: ENDED[record.status],
          operations_planned: toCount(record.operations_planned),
          operations_completed: toCount(record.operations_completed),
          operations_failed: toCount(record.operations_failed),
          error_message: record.error_message,
          initiated_at: toTime(record.initiated_at) ?? times.created_at,
          completed_at: toTime(record.completed_at) ?? times.updated_at,
          session_id: crypto.randomUUID(),
          downloads: [],
          ...times
        }
      }
    }, (rows) => insertImportedSessions(tx, rows), 'this server has the session already')
  }
}

export const playSessionWriter: Writer<'play_session'> = {
  kind: 'play_session',
  idOf: ({ id }) => id,
  nameOf: () => null,
  async write ({ tx, refs }, records) {
    const [devices, roms, sessions] = [
      await refs.find('device', records.map((record) => record.device_id)),
      await refs.find('rom', records.map((record) => record.rom_id)),
      await refs.find('sync_session', records.map((record) => record.sync_session_id))
    ]
    const userOf = await refs.users(records)
    return await insertResolved(records, (record) => {
      const user = userOf(record)
      if (user === null) return noUser(record.user_id)
      // A session without its ROM would count for no game, and a later import could not find the ROM.
      if (record.rom_id !== null && !roms.has(record.rom_id)) return noRom(record.rom_id)
      const [start, end] = [new Date(record.start_time), new Date(record.end_time)]
      if (end < start) return { reason: 'it ends before it starts' }
      if (end.getTime() > Date.now()) return { reason: `it ends in the future, at ${record.end_time}` }
      const [device, rom] = [devices.get(record.device_id ?? '') ?? null, roms.get(record.rom_id ?? '') ?? null]
      return {
        row: {
          user_id: user,
          device_id: device,
          rom_id: rom,
          sync_session_id: sessions.get(record.sync_session_id ?? '') ?? null,
          identity: `${device ?? ''}/${rom ?? ''}/${start.toISOString()}`,
          save_slot: record.save_slot,
          start_time: start.toISOString(),
          end_time: end.toISOString(),
          duration_ms: limitDuration({ start, end, duration_ms: record.duration_ms }),
          ...toTimes(record)
        }
      }
    }, (rows) => insertImportedPlays(tx, rows), 'this server has the play session already')
  }
}

export const tokenWriter: Writer<'token'> = {
  kind: 'token',
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  async write ({ tx, refs, services }, records) {
    const devices = await refs.find('device', records.map((record) => record.device_id))
    const userOf = await refs.users(records)
    const prefixes = tokenPrefixes(services.config)
    if (prefixes.length === 1) {
      services.warn('Imported tokens work after auth.token_prefixes in config.yml gets their prefix, such as rmm_, and a restart')
    }
    return await insertResolved(records, (record) => {
      const user = userOf(record)
      if (user === null) return noUser(record.user_id)
      const device = devices.get(record.device_id ?? '')
      // Without its device the token would work on every device.
      if (record.device_id !== null && device === undefined) return { reason: `its device ${record.device_id} was not imported` }
      const scopes = record.scopes.filter(isScope)
      if (scopes.length === 0) return { reason: 'this server has none of its scopes' }
      const expiresAt = toTime(record.expires_at)
      if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return { reason: `it expired at ${expiresAt}` }
      return {
        row: {
          user_id: user,
          device_id: device ?? null,
          name: record.name,
          token_hash: record.token_hash,
          scopes,
          expires_at: expiresAt,
          last_used_at: toTime(record.last_used_at),
          created_at: toTime(record.created_at) ?? new Date().toISOString()
        }
      }
    }, (rows) => insertImportedTokens(tx, rows), 'this server has the token already')
  }
}
