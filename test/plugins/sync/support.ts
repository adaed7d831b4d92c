import { createHash, randomUUID } from 'node:crypto'
import { SCOPES } from '../../../core/access/scopes.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import type { TestApp } from '../../support.ts'
import { bearer, createCaller } from '../tokens/support.ts'

const digest = (algorithm: 'sha1' | 'md5', text: string) => createHash(algorithm).update(text).digest('hex')

/** Returns the hash of a text. */
export const sha1 = (text: string) => digest('sha1', text)
export const md5 = (text: string) => digest('md5', text)

export interface AssetSeed {
  rom: number
  name: string
  content: string
  kind?: 'save' | 'state'
  slot?: string | null
  emulator?: string | null
  /** Seconds after `DAY`. */
  at?: number
  conflict_of?: number
  deleted_by?: 'owner' | 'cleanup'
}

export const DAY = Date.parse('2026-01-01T00:00:00Z')
export const timeOf = (at: number) => new Date(DAY + at * 1_000).toISOString()

/** Inserts users, their devices and their assets directly into the database. */
export function createSyncWorld (test: TestApp) {
  const { app } = test

  async function insert (sql: string, values: unknown[]): Promise<number> {
    const { rows: [row] } = await app.pg.query<{ id: number }>(`${sql} returning id`, values)
    return row?.id ?? 0
  }

  async function addToken (raw: string, user: number, scopes: readonly string[], device: number | null) {
    await insert("insert into client_tokens (user_id, name, token_hash, scopes, device_id) values ($1, '', $2, $3, $4)",
      [user, sha256(raw), scopes, device])
    return bearer(raw)
  }

  return {
    /** Adds a user who calls with a token, because checking passwords takes long. */
    async addUser (name: string) {
      const id = await insert('insert into users (username) values ($1)', [name])
      return { id, ...createCaller(app, await addToken(`svc_${name}`, id, SCOPES, null)) }
    },

    /** Returns the headers of an app on a device, authorized with these scopes. */
    addApp: (user: number, device: number, scopes: readonly string[]) => addToken(`svc_${randomUUID()}`, user, scopes, device),

    async addDevice (user: number, fields: object = {}) {
      const columns = {
        sync_mode: 'push_pull', paths: null, sync_config: null, sync_enabled: true, is_numbered: false, ...fields
      }
      const id = await insert(`insert into devices (user_id, name, sync_mode, paths, sync_config, sync_enabled, is_numbered)
        values ($1, 'handheld', $2, $3, $4, $5, $6)`, [user, columns.sync_mode, columns.paths, columns.sync_config,
        columns.sync_enabled, columns.is_numbered])
      const { rows: [row] } = await app.pg.query<{ uuid: string }>(
        'select device_id as uuid from devices where id = $1', [id])
      return { id, uuid: row?.uuid ?? '' }
    },

    async addAsset (user: number, seed: AssetSeed): Promise<number> {
      const { rom, name, content, kind = 'save', slot = null, emulator = null, at = 0 } = seed
      return await insert(`insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, emulator, slot,
          content_hash, sha1, disk_path, conflict_of, deleted_at, deleted_by, updated_at)
        values ($1, $2, $3, 'snes', 'Game', $4, $5, $6, $7, $8, '', $9, case when $10::text is null then null else now() end, $10, $11)`,
      [kind, user, rom, name, emulator, slot, md5(content), sha1(content), seed.conflict_of ?? null,
        seed.deleted_by ?? null, timeOf(at)])
    },

    /** Replaces the content of an asset, as an upload does. */
    async change (asset: number, content: string, at: number): Promise<void> {
      await app.pg.query(`insert into asset_versions (asset_id, file_name, content_hash, sha1, disk_path, content_updated_at)
        select id, file_name, content_hash, sha1, disk_path, updated_at from assets where id = $1`, [asset])
      await app.pg.query('update assets set content_hash = $2, sha1 = $3, updated_at = $4 where id = $1',
        [asset, md5(content), sha1(content), timeOf(at)])
    },

    async listBases (device: number) {
      const { rows } = await app.pg.query<{ key: string, sha1: string }>(
        'select key, sha1 from sync_bases where device_id = $1 order by key', [device])
      return Object.fromEntries(rows.map((row) => [row.key, row.sha1]))
    }
  }
}

/** Returns a listing by file: the files of each ROM with their content. */
export const listFiles = (roms: Record<number, Record<string, string>>) => Object.entries(roms).map(([rom, files]) => ({
  rom_id: Number(rom),
  saves: Object.entries(files).map(([file, content]) => ({ file, mtime: timeOf(0), sha1: sha1(content) }))
}))
