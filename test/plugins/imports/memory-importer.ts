import { Readable } from 'node:stream'
import { FileAbsentError, type ImportRecord, type Importer, type RecordKind } from '../../../plugins/imports/contract.ts'

export type MemoryRecords = { [Kind in RecordKind]?: readonly unknown[] }

interface MemoryOptions {
  identity?: string
  /** The content of files by path. */
  files?: Readonly<Record<string, string | Uint8Array>>
  /** Runs before each record. */
  onRecord? (kind: RecordKind): void
}

/** Creates an importer that lists the given records, whatever they are. */
export function createMemoryImporter (
  records: MemoryRecords, { identity = 'memory:1', files = {}, onRecord = () => {} }: MemoryOptions = {}
): Importer {
  return {
    identity,
    title: 'a list in memory',
    absent: {},
    async * list<Kind extends RecordKind> (kind: Kind) {
      for (const record of records[kind] ?? []) {
        await Promise.resolve()
        onRecord(kind)
        yield record as ImportRecord<Kind>
      }
    },
    async open ({ path }) {
      const content = files[path]
      if (content === undefined) throw new FileAbsentError(`There is no file '${path}'`)
      return await Promise.resolve(Readable.from([Buffer.from(content)]))
    },
    close: () => Promise.resolve()
  }
}

const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-02T03:04:05.678901Z' }
const none = <const Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, null])) as { [One in Name]: null }

/** Records with every field; the given ones replace the defaults. */
export const make = {
  group: (given: Partial<ImportRecord<'group'>> & { id: string }): ImportRecord<'group'> =>
    ({ name: `group ${given.id}`, is_default: false, is_system: false, grants: [], ...none('description', 'color'), ...times, ...given }),
  user: (given: Partial<ImportRecord<'user'>> & { id: string }): ImportRecord<'user'> => ({
    username: `user${given.id}`, role: 'user', is_enabled: true, overrides: [],
    ...none('email', 'password_hash', 'group_id', 'group_name', 'avatar', 'ra_username', 'ui_settings', 'last_login', 'last_active'),
    ...times, ...given
  }),
  platform: (given: Partial<ImportRecord<'platform'>> & { id: string }): ImportRecord<'platform'> =>
    ({ fs_slug: 'snes', ...none('slug', 'name', 'custom_name', 'description'), ...times, ...given }),
  rom: (given: Partial<ImportRecord<'rom'>> & { id: string }): ImportRecord<'rom'> => ({
    platform_id: '1', fs_name: `Game ${given.id}.sfc`, files: [], provider_ids: {}, locked: [], screenshots: [], media: {},
    ...none('fs_size_bytes', 'crc', 'md5', 'sha1', 'name', 'name_sort_key', 'summary', 'manual_metadata', 'cover', 'manual'), ...times, ...given
  }),
  mark: (given: Partial<ImportRecord<'mark'>>): ImportRecord<'mark'> => ({
    rom_id: '1', user_id: '1', is_main_sibling: false, backlogged: false, now_playing: false, hidden: false, rating: 0, difficulty: 0,
    completion: 0, ...none('last_played', 'status'), ...times, ...given
  }),
  note: (given: Partial<ImportRecord<'note'>> & { id: string }): ImportRecord<'note'> =>
    ({ rom_id: '1', user_id: '1', title: 'Note', content: 'text', is_public: false, tags: [], ...times, ...given }),
  device: (given: Partial<ImportRecord<'device'>> & { id: string }): ImportRecord<'device'> => ({
    user_id: '1', sync_enabled: true,
    ...none('device_id', 'name', 'platform', 'client', 'client_version', 'ip_address', 'mac_address', 'hostname', 'client_device_identifier',
      'sync_mode', 'sync_config', 'last_seen'),
    ...times, ...given
  }),
  asset: (given: Partial<ImportRecord<'asset'>> & { id: string }): ImportRecord<'asset'> => ({
    kind: 'save', rom_id: '1', user_id: '1', file: { path: `${given.id}.srm`, size_bytes: null }, file_name: `${given.id}.srm`,
    is_public: false, is_gallery: false, ...none('platform_fs_slug', 'rom_fs_name', 'emulator', 'slot', 'md5', 'device_id'), ...times, ...given
  }),
  play_session: (given: Partial<ImportRecord<'play_session'>> & { id: string }): ImportRecord<'play_session'> => ({
    user_id: '1', rom_id: '1', start_time: '2026-02-01T00:00:00Z', end_time: '2026-02-01T00:01:00Z', duration_ms: 5_000,
    ...none('device_id', 'sync_session_id', 'save_slot'), ...times, ...given
  }),
  token: (given: Partial<ImportRecord<'token'>> & { id: string }): ImportRecord<'token'> => ({
    user_id: '1', name: 'handheld', token_hash: given.id.padStart(64, '0'), scopes: ['roms.read'],
    ...none('device_id', 'expires_at', 'last_used_at'), created_at: times.created_at, ...given
  }),
  collection: (given: Partial<ImportRecord<'collection'>> & { id: string }): ImportRecord<'collection'> => ({
    user_id: '1', name: 'Best', is_public: false, is_favorite: false, rom_ids: ['1'], ...none('description', 'cover'), ...times, ...given
  }),
  smart_collection: (given: Partial<ImportRecord<'smart_collection'>> & { id: string }): ImportRecord<'smart_collection'> =>
    ({ user_id: '1', name: 'Smart', is_public: false, filter_criteria: {}, description: null, ...times, ...given })
}
