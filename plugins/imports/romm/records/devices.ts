import type { ImportRecord } from '../../contract.ts'
import { need, readRecords, type RommSource, TIMES, timesOf } from './source.ts'

const DEVICE_COLUMNS = ['id', 'user_id', 'name', 'platform', 'client', 'client_version', 'ip_address', 'mac_address',
  'hostname', 'client_device_identifier', 'sync_mode', 'sync_enabled', 'sync_config', 'last_seen', ...TIMES] as const
const SYNC_COLUMNS = ['device_id', 'save_id', 'last_synced_at', 'is_untracked'] as const
const SESSION_COLUMNS = ['id', 'device_id', 'user_id', 'status', 'operations_planned', 'operations_completed',
  'operations_failed', 'error_message', 'initiated_at', 'completed_at', ...TIMES] as const
const PLAY_COLUMNS = ['id', 'user_id', 'device_id', 'rom_id', 'sync_session_id', 'save_slot', 'start_time', 'end_time',
  'duration_ms', ...TIMES] as const
const TOKEN_COLUMNS = ['id', 'user_id', 'name', 'hashed_token', 'scopes', 'expires_at', 'last_used_at', 'device_id',
  'created_at'] as const

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const SHA256 = /^[0-9a-f]{64}$/
const STATUSES = ['pending', 'in_progress', 'completed', 'failed', 'cancelled'] as const

export async function * listDevices (source: RommSource): AsyncGenerator<ImportRecord<'device'>> {
  yield * readRecords(source, { kind: 'device', table: 'devices', columns: DEVICE_COLUMNS }, (row) => {
    const id = need(row.text('id'), 'id')
    return {
      id,
      device_id: UUID.test(id) ? id : null,
      user_id: need(row.text('user_id'), 'user_id'),
      name: row.text('name'),
      platform: row.text('platform'),
      client: row.text('client'),
      client_version: row.text('client_version'),
      ip_address: row.text('ip_address'),
      mac_address: row.text('mac_address'),
      hostname: row.text('hostname'),
      client_device_identifier: row.text('client_device_identifier'),
      sync_mode: row.word('sync_mode'),
      sync_enabled: row.flag('sync_enabled'),
      sync_config: row.object('sync_config'),
      last_seen: row.time('last_seen'),
      ...timesOf(row)
    }
  })
}

export async function * listDeviceSyncs (source: RommSource): AsyncGenerator<ImportRecord<'device_sync'>> {
  const table = {
    kind: 'device_sync', table: 'device_save_sync', columns: SYNC_COLUMNS, key: ['device_id', 'save_id']
  } as const
  yield * readRecords(source, table, (row) => ({
    device_id: need(row.text('device_id'), 'device_id'),
    asset_id: need(row.text('save_id'), 'save_id'),
    last_synced_at: need(row.time('last_synced_at'), 'last_synced_at'),
    is_untracked: row.flag('is_untracked')
  }))
}

export async function * listSyncSessions (source: RommSource): AsyncGenerator<ImportRecord<'sync_session'>> {
  yield * readRecords(source, { kind: 'sync_session', table: 'sync_sessions', columns: SESSION_COLUMNS }, (row) => {
    const status = row.word('status')
    return {
      id: need(row.text('id'), 'id'),
      device_id: need(row.text('device_id'), 'device_id'),
      user_id: need(row.text('user_id'), 'user_id'),
      status: need(STATUSES.find((one) => one === status) ?? null, 'status'),
      operations_planned: countOf(row.integer('operations_planned')),
      operations_completed: countOf(row.integer('operations_completed')),
      operations_failed: countOf(row.integer('operations_failed')),
      error_message: row.text('error_message'),
      initiated_at: row.time('initiated_at'),
      completed_at: row.time('completed_at'),
      ...timesOf(row)
    }
  })
}

export async function * listPlaySessions (source: RommSource): AsyncGenerator<ImportRecord<'play_session'>> {
  yield * readRecords(source, { kind: 'play_session', table: 'play_sessions', columns: PLAY_COLUMNS }, (row) => ({
    id: need(row.text('id'), 'id'),
    user_id: need(row.text('user_id'), 'user_id'),
    device_id: row.text('device_id'),
    rom_id: row.text('rom_id'),
    sync_session_id: row.text('sync_session_id'),
    save_slot: row.text('save_slot'),
    start_time: need(row.time('start_time'), 'start_time'),
    end_time: need(row.time('end_time'), 'end_time'),
    duration_ms: countOf(row.integer('duration_ms')),
    ...timesOf(row)
  }))
}

export async function * listTokens (source: RommSource): AsyncGenerator<ImportRecord<'token'>> {
  yield * readRecords(source, { kind: 'token', table: 'client_tokens', columns: TOKEN_COLUMNS }, (row) => {
    const hash = row.text('hashed_token')?.toLowerCase() ?? ''
    return {
      id: need(row.text('id'), 'id'),
      user_id: need(row.text('user_id'), 'user_id'),
      name: need(row.text('name'), 'name'),
      token_hash: need(SHA256.test(hash) ? hash : null, 'hashed_token'),
      scopes: (row.text('scopes') ?? '').split(/\s+/).filter((scope) => scope !== ''),
      device_id: row.text('device_id'),
      expires_at: row.time('expires_at'),
      last_used_at: row.time('last_used_at'),
      created_at: row.time('created_at')
    }
  })
}

function countOf (value: number | null): number {
  return Math.max(value ?? 0, 0)
}
