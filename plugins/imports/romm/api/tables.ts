import { type TableReader, toRow } from '../tables/table-rows.ts'
import type { Item, RommClient } from './client.ts'
import { ApiLists, toItems, toList } from './lists.ts'

const RESOURCES = /^\/assets\/\w+\/resources\//

/** The answers of an API as tables, and the routes of the files that they name. */
export interface ApiTables extends TableReader {
  /** Returns the routes by which a path of the assets or resources folder can be fetched, the newest first. */
  routesOf (path: string): string[]
}

type Tables = Readonly<Record<string, () => AsyncIterable<Item[]>>>
type Parts = Readonly<Record<string, (values: readonly string[], column: string) => Promise<Item[]>>>

/**
 * Presents the API as the tables of the database, so that both are read by the same code. It has what the account may
 * see: its own things, and the library.
 *
 * @param me the account of the token
 */
export function createApiTables (client: RommClient, me: Item): ApiTables {
  const lists = new ApiLists(client, me)
  const [tables, parts] = [listTables(lists), listParts(lists)]
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
      return items.filter((item) => wanted.has(String(item[column]))).map((item) => toRow(item, columns))
    },
    routesOf (path) {
      const encoded = path.split('/').map(encodeURIComponent).join('/')
      if (!path.startsWith('assets/')) return [`/assets/romm/${encoded}`]
      // RomM up to 4.9 serves the assets folder itself.
      const route = lists.routeOf(path)
      return [...route === undefined ? [] : [route], `/api/raw/${encoded}`]
    },
    close: () => client.close()
  }
}

/** Returns the tables that are read whole. */
function listTables (lists: ApiLists): Tables {
  const once = (list: () => Promise<Item[]>) => async function * () { yield await list() }
  return {
    users: once(() => lists.users()),
    permission_groups: once(() => lists.all('/api/permissions/groups')),
    platforms: once(() => lists.all('/api/platforms')),
    roms: async function * () {
      for await (const items of lists.roms()) yield items.map(toRom)
    },
    rom_user: () => lists.marks(),
    rom_notes: () => lists.notes(),
    devices: once(() => lists.devices()),
    saves: once(() => lists.assets('saves')),
    states: once(() => lists.assets('states')),
    screenshots: once(() => lists.assets('screenshots')),
    device_save_sync: once(() => lists.deviceSyncs()),
    play_sessions: () => lists.playSessions(),
    collections: once(async () => (await lists.own('/api/collections')).map(toCollection)),
    smart_collections: once(() => lists.own('/api/collections/smart')),
    music_playlists: once(() => lists.own('/api/music/playlists')),
    music_favorite_tracks: once(() => lists.favoriteTracks())
  }
}

/** Returns the tables that are read by the rows that they belong to. */
function listParts (lists: ApiLists): Parts {
  return {
    permission_group_grants: async () => (await lists.all('/api/permissions/groups'))
      .flatMap(({ id, grants }) => toItems(grants).map((grant) => ({ ...grant, group_id: id }))),
    collections_roms: async () => (await lists.own('/api/collections'))
      .flatMap(({ id, rom_ids: ids }) => toList(ids).map((romId) => ({ collection_id: id, rom_id: romId }))),
    music_playlist_tracks: (ids) => lists.playlistTracks(ids),
    roms: () => lists.knownRoms(),
    rom_files: async (_ids, column) => column === 'rom_id' ? lists.pageFiles() : await lists.tracks()
  }
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
