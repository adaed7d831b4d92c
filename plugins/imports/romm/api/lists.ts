import { type Row, toRow } from '../tables/table-rows.ts'
import { isObject } from '../values.ts'
import type { Item, RommClient } from './client.ts'

/** ROMs of one request. Each brings the metadata of all providers. */
const PAGE = 100
/** Small items of one request, and the most tracks of a playlist that are read. */
const SMALL_PAGE = 1_000
/** Shown by the API in place of a secret, and not to be stored as one. */
const MASK = '********'

type AssetTable = 'saves' | 'states' | 'screenshots'

/** What later lists need of each ROM; small enough to stay in memory. */
type KnownRom = Row<'id' | 'platform_id' | 'fs_name' | 'fs_path'>

/** The lists of an API, without the things of other accounts. */
export class ApiLists {
  readonly #client: RommClient
  readonly #me: Item
  readonly #roms = new Map<string, KnownRom>()
  readonly #tracks = new Map<string, Item>()
  #pageFiles: Item[] = []
  #hasAllRoms = false
  /** Routes of files of the assets folder, by path. */
  readonly #routes = new Map<string, string>()

  /** @param me the account of the token */
  constructor (client: RommClient, me: Item) {
    this.#client = client
    this.#me = me
  }

  /** Returns the route by which a path of the assets folder can be fetched; undefined if no list had it. */
  routeOf (path: string): string | undefined {
    return this.#routes.get(path)
  }

  #isOwn = (item: Item): boolean => item.user_id === undefined || item.user_id === this.#me.id

  async own (path: string): Promise<Item[]> {
    return sortById((await this.#client.getList(path)).filter(this.#isOwn))
  }

  async all (path: string): Promise<Item[]> {
    return sortById(await this.#client.getList(path))
  }

  async * roms (): AsyncGenerator<Item[]> {
    const seen = new Set<unknown>()
    for (let offset = 0; ; offset += PAGE) {
      const query = { limit: PAGE, offset, order_by: 'id', with_files: 'true' }
      const items = (await this.#client.getList('/api/roms', query)).filter(({ id }) => !seen.has(id))
      if (items.length === 0) break
      for (const { id } of items) seen.add(id)
      this.#remember(items)
      yield items
    }
    this.#hasAllRoms = true
  }

  #remember (items: readonly Item[]): void {
    for (const item of items) this.#roms.set(String(item.id), toRow(item, ['id', 'platform_id', 'fs_name', 'fs_path']))
    this.#pageFiles = items.flatMap(({ files }) => toItems(files))
    for (const file of this.#pageFiles) if (file.category === 'soundtrack') this.#tracks.set(String(file.id), file)
  }

  async #loadAllRoms (): Promise<void> {
    for await (const items of this.#hasAllRoms ? [] : this.roms()) void items
  }

  async knownRoms (): Promise<Item[]> {
    await this.#loadAllRoms()
    return [...this.#roms.values()]
  }

  /** Returns the files of the last page of ROMs, because the files of ROMs are read right after them. */
  pageFiles (): Item[] {
    return this.#pageFiles
  }

  async tracks (): Promise<Item[]> {
    await this.#loadAllRoms()
    return [...this.#tracks.values()]
  }

  async users (): Promise<Item[]> {
    // Other accounts are shown to administrators only.
    const users = String(this.#me.role).toLowerCase() === 'admin' ? await this.all('/api/users') : []
    const listed = users.length === 0 ? [this.#me] : users
    for (const { id, avatar_path: path } of listed) {
      if (typeof path === 'string') this.#routes.set(`assets/${path}`, `/api/users/${String(id)}/avatar`)
    }
    return listed
  }

  async assets (table: AssetTable): Promise<Item[]> {
    const assets = table === 'screenshots'
      ? [...await this.own('/api/saves'), ...await this.own('/api/states')].map(({ screenshot }) => screenshot).filter(isObject)
      : await this.own(`/api/${table}`)
    for (const { id, file_path: folder, file_name: name } of assets) {
      if (typeof folder !== 'string' || typeof name !== 'string') continue
      this.#routes.set(`assets/${folder}/${name}`, `/api/${table}/${String(id)}/content`)
    }
    return sortById([...new Map(assets.map((asset) => [asset.id, asset])).values()])
  }

  async devices (): Promise<Item[]> {
    return (await this.own('/api/devices')).map((device) =>
      ({ ...device, id: device.device_id ?? device.id, ...withoutMasks(device.sync_config) }))
  }

  /** Lists the syncs of each own device. The API adds one without meaning for saves that a device never synced. */
  async deviceSyncs (): Promise<Item[]> {
    const found: Item[] = []
    for (const device of await this.devices()) {
      for (const save of await this.#client.getList('/api/saves', { device_id: String(device.id) })) {
        const sync = toItems(save.device_syncs).find((one) => one.device_id === device.id)
        const isReal = sync !== undefined && (sync.is_current === true || sync.last_synced_at !== save.updated_at)
        if (isReal) found.push({ ...sync, save_id: save.id })
      }
    }
    return found
  }

  async * marks (): AsyncGenerator<Item[]> {
    for await (const items of this.roms()) {
      // A ROM without marks comes with marks whose id is -1.
      yield items.map(({ rom_user: mark }) => mark).filter(isObject).filter(({ id }) => Number(id) > 0)
    }
  }

  async * notes (): AsyncGenerator<Item[]> {
    for await (const items of this.roms()) for (const item of items) yield await this.#notesOf(item)
  }

  async #notesOf ({ id, has_notes: hasNotes, rom_user: mark }: Item): Promise<Item[]> {
    // Before RomM 4.5 a note was part of the marks.
    if (isObject(mark) && 'note_raw_markdown' in mark) {
      const { id: markId, note_raw_markdown: content, note_is_public: isPublic } = mark
      return [{ ...mark, id: `rom_user:${String(markId)}`, content, is_public: isPublic }]
    }
    if (hasNotes === false) return []
    const rom = await this.#client.findObject(`/api/roms/${String(id)}`)
    return toItems(rom?.all_user_notes ?? rom?.user_notes).filter(this.#isOwn).map((note) => ({ ...note, rom_id: id }))
  }

  async * playSessions (): AsyncGenerator<Item[]> {
    const seen = new Set<unknown>()
    for (let offset = 0; ; offset += SMALL_PAGE) {
      const page = await this.#client.getList('/api/play-sessions', { limit: SMALL_PAGE, offset })
      const items = page.filter(({ id }) => !seen.has(id))
      if (items.length === 0) return
      for (const { id } of items) seen.add(id)
      yield items.filter(this.#isOwn)
    }
  }

  async playlistTracks (ids: readonly string[]): Promise<Item[]> {
    const found: Item[] = []
    for (const id of ids) {
      const items = await this.#client.getList(`/api/music/playlists/${id}/tracks`, { limit: SMALL_PAGE })
      found.push(...items.map((item, position) => ({ ...item, playlist_id: id, position })))
    }
    return found
  }

  async favoriteTracks (): Promise<Item[]> {
    const items = await this.#client.getList('/api/music/favorites', { limit: SMALL_PAGE })
    return items.map((item) => ({ ...item, user_id: this.#me.id }))
  }
}

export function toList (value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function toItems (value: unknown): Item[] {
  return toList(value).filter(isObject)
}

function sortById (items: Item[]): Item[] {
  return items.sort((a, b) => Number(a.id) - Number(b.id))
}

function withoutMasks (config: unknown): { sync_config?: Item } {
  if (!isObject(config)) return {}
  return { sync_config: Object.fromEntries(Object.entries(config).filter(([, value]) => value !== MASK)) }
}
