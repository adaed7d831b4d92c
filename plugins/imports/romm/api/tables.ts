import type { Row, TableReader } from '../tables/table-reader.ts'
import { isObject } from '../values.ts'
import type { Item, RommClient } from './client.ts'

/** ROMs of one request. Each brings the metadata of all providers. */
const PAGE = 100
/** Small items of one request, and the most tracks of a playlist that are read. */
const SMALL_PAGE = 1_000
const RESOURCES = /^\/assets\/\w+\/resources\//

/** The answers of an API as tables, and the routes of the files that they name. */
export interface ApiTables extends TableReader {
  /** Returns the routes by which a path of the assets or resources folder can be fetched, the newest first. */
  routesOf (path: string): string[]
}

/** What later lists need of each ROM; small enough to stay in memory. */
type KnownRom = Row<'id' | 'platform_id' | 'fs_name' | 'fs_path'>

/**
 * Presents the API as the tables of the database, so that both are read by the same code. It has what the account may
 * see: its own things, and the library.
 *
 * @param me the account of the token
 */
export function createApiTables (client: RommClient, me: Item): ApiTables {
  const roms = new Map<string, KnownRom>()
  /** Soundtracks and the files of the last page. Files of a ROM are read right after the ROM. */
  const tracks = new Map<string, Item>()
  let pageFiles: Item[] = []
  let hasAllRoms = false
  /** Routes of content by path. */
  const routes = new Map<string, string>()

  const isOwn = (item: Item) => item.user_id === undefined || item.user_id === me.id
  const own = async (path: string) => (await client.getList(path)).filter(isOwn)
  const byId = (items: Item[]) => items.sort((a, b) => Number(a.id) - Number(b.id))

  async function * readRoms (): AsyncGenerator<Item[]> {
    const seen = new Set<unknown>()
    for (let offset = 0; ; offset += PAGE) {
      const query = { limit: PAGE, offset, order_by: 'id', with_files: 'true' }
      const items = (await client.getList('/api/roms', query)).filter(({ id }) => !seen.has(id))
      if (items.length === 0) break
      for (const item of items) {
        seen.add(item.id)
        roms.set(String(item.id), toRow(item, ['id', 'platform_id', 'fs_name', 'fs_path']))
      }
      pageFiles = items.flatMap(({ files }) => toItems(files))
      for (const file of pageFiles) if (file.category === 'soundtrack') tracks.set(String(file.id), file)
      yield items
    }
    hasAllRoms = true
  }

  async function loadAllRoms (): Promise<void> {
    for await (const items of hasAllRoms ? [] : readRoms()) void items
  }

  async function listUsers (): Promise<Item[]> {
    // Other accounts are shown to administrators only.
    const users = me.role === 'admin' ? await client.getList('/api/users') : []
    const listed = users.length === 0 ? [me] : users
    for (const { id, avatar_path: path } of listed) {
      if (typeof path === 'string') routes.set(`assets/${path}`, `/api/users/${String(id)}/avatar`)
    }
    return byId(listed)
  }

  async function listAssets (kind: 'saves' | 'states' | 'screenshots'): Promise<Item[]> {
    const assets = kind === 'screenshots'
      ? [...await own('/api/saves'), ...await own('/api/states')].map(({ screenshot }) => screenshot).filter(isObject)
      : await own(`/api/${kind}`)
    for (const { id, file_path: folder, file_name: name } of assets) {
      if (typeof folder !== 'string' || typeof name !== 'string') continue
      routes.set(`assets/${folder}/${name}`, `/api/${kind}/${String(id)}/content`)
    }
    return byId([...new Map(assets.map((asset) => [asset.id, asset])).values()])
  }

  /** Lists the syncs of each own device. The API adds one without meaning for saves that a device never synced. */
  async function listSyncs (): Promise<Item[]> {
    const found: Item[] = []
    for (const device of await listDevices()) {
      const saves = await client.getList('/api/saves', { device_id: String(device.id) })
      for (const save of saves) {
        const sync = toItems(save.device_syncs).find((one) => one.device_id === device.id)
        const isReal = sync !== undefined && (sync.is_current === true || sync.last_synced_at !== save.updated_at)
        if (isReal) found.push({ ...sync, save_id: save.id })
      }
    }
    return found
  }

  async function listDevices (): Promise<Item[]> {
    return (await own('/api/devices')).map((device) =>
      ({ ...device, id: device.device_id ?? device.id, ...maskSecrets(device.sync_config) }))
  }

  async function * readNotes (): AsyncGenerator<Item[]> {
    for await (const items of readRoms()) {
      for (const { id, has_notes: hasNotes, rom_user: mark } of items) {
        const former = isObject(mark) ? mark : {}
        if ('note_raw_markdown' in former) {
          yield [{
            ...former, id: `rom_user:${String(former.id)}`, content: former.note_raw_markdown, is_public: former.note_is_public
          }]
        } else if (hasNotes !== false) {
          const rom = await client.findObject(`/api/roms/${String(id)}`)
          yield toItems(rom?.all_user_notes ?? rom?.user_notes).filter(isOwn).map((note) => ({ ...note, rom_id: id }))
        }
      }
    }
  }

  async function * readMarks (): AsyncGenerator<Item[]> {
    // A ROM without marks comes with marks whose id is -1.
    for await (const items of readRoms()) {
      yield items.map(({ rom_user: mark }) => mark).filter(isObject).filter(({ id }) => Number(id) > 0)
    }
  }

  async function * readSessions (): AsyncGenerator<Item[]> {
    const seen = new Set<unknown>()
    for (let offset = 0; ; offset += SMALL_PAGE) {
      const page = await client.getList('/api/play-sessions', { limit: SMALL_PAGE, offset })
      const items = page.filter(({ id }) => !seen.has(id))
      if (items.length === 0) return
      for (const { id } of items) seen.add(id)
      yield items.filter(isOwn)
    }
  }

  const once = (list: () => Promise<Item[]>) => async function * () { yield await list() }

  /** The lists behind the tables that are read whole. */
  const tables: Readonly<Record<string, () => AsyncGenerator<Item[]>>> = {
    users: once(listUsers),
    permission_groups: once(() => client.getList('/api/permissions/groups').then(byId)),
    platforms: once(() => client.getList('/api/platforms').then(byId)),
    roms: async function * () {
      for await (const items of readRoms()) yield items.map(toRom)
    },
    rom_user: readMarks,
    rom_notes: readNotes,
    devices: once(listDevices),
    saves: once(() => listAssets('saves')),
    states: once(() => listAssets('states')),
    screenshots: once(() => listAssets('screenshots')),
    device_save_sync: once(listSyncs),
    play_sessions: readSessions,
    collections: once(async () => byId(await own('/api/collections')).map(toCollection)),
    smart_collections: once(async () => byId(await own('/api/collections/smart'))),
    music_playlists: once(async () => byId(await own('/api/music/playlists'))),
    music_favorite_tracks: once(async () => (await client.getList('/api/music/favorites', { limit: SMALL_PAGE }))
      .map((track) => ({ ...track, user_id: me.id })))
  }

  /** The lists behind the tables that are read by the rows that they belong to. */
  const parts: Readonly<Record<string, (ids: readonly string[], column: string) => Promise<Item[]>>> = {
    permission_group_grants: async () => (await client.getList('/api/permissions/groups'))
      .flatMap(({ id, grants }) => toItems(grants).map((grant) => ({ ...grant, group_id: id }))),
    collections_roms: async () => (await own('/api/collections'))
      .flatMap(({ id, rom_ids: ids }) => toList(ids).map((romId) => ({ collection_id: id, rom_id: romId }))),
    music_playlist_tracks: async (ids) => {
      const lists = []
      for (const id of ids) {
        const items = await client.getList(`/api/music/playlists/${id}/tracks`, { limit: SMALL_PAGE })
        lists.push(items.map((item, position) => ({ ...item, playlist_id: id, position })))
      }
      return lists.flat()
    },
    roms: async () => {
      await loadAllRoms()
      return [...roms.values()]
    },
    rom_files: async (_ids, column) => {
      if (column === 'rom_id') return pageFiles
      await loadAllRoms()
      return [...tracks.values()]
    }
  }

  return {
    title: 'its API',
    hasTable: (table) => table in tables || table in parts,
    hasColumn: () => true,
    async * read (table, columns) {
      for await (const items of tables[table]?.() ?? []) yield items.map((item) => toRow(item, columns))
    },
    async readWhere (table, columns, column, values) {
      const wanted = new Set(values)
      const items = await parts[table]?.(values, column) ?? []
      const unique = new Map(items.map((item) => [item.id ?? item, item])).values()
      return [...unique].filter((item) => wanted.has(String(item[column]))).map((item) => toRow(item, columns))
    },
    routesOf (path) {
      const route = routes.get(path)
      const encoded = path.split('/').map(encodeURIComponent).join('/')
      // RomM up to 4.9 serves the assets folder itself.
      if (path.startsWith('assets/')) return [...route === undefined ? [] : [route], `/api/raw/${encoded}`]
      return [`/assets/romm/${encoded}`]
    },
    close: () => client.close()
  }
}

function toList (value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function toItems (value: unknown): Item[] {
  return toList(value).filter(isObject)
}

/** Turns an item into the row that the database has of it, in which every value is text. */
function toRow<Column extends string> (item: Item, columns: readonly Column[]): Row<Column> {
  return Object.fromEntries(columns.map((name) => [name, toText(item[name])])) as Record<Column, string | null>
}

function toText (value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Restores the columns that the API shows under other names. */
function toRom (item: Item): Item {
  return { ...item, path_cover_l: stripPrefix(item.path_cover_large), path_cover_s: stripPrefix(item.path_cover_small) }
}

function toCollection (item: Item): Item {
  const isFavorite = item.is_favorite ?? /^favou?rites$/i.test(String(item.name))
  return { ...toRom(item), is_favorite: isFavorite }
}

function stripPrefix (path: unknown): string | null {
  return typeof path === 'string' && path !== '' ? path.replace(RESOURCES, '') : null
}

/** The API hides secrets behind asterisks, which must not be stored as secrets. */
function maskSecrets (config: unknown): { sync_config?: Item } {
  if (!isObject(config)) return {}
  return { sync_config: Object.fromEntries(Object.entries(config).filter(([, value]) => value !== '********')) }
}
