import { createHash } from 'node:crypto'
import { opendir, stat } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { isNotFoundError } from '../../../../core/files/fs-error.ts'
import type { ImportRecord } from '../../contract.ts'
import { fileIn } from '../files.ts'
import type { Values } from '../values.ts'
import { need, readBatches, type RommSource, TIMES, timesOf } from './source.ts'

const COLUMNS = ['id', 'rom_id', 'user_id', 'file_name', 'file_path', 'file_size_bytes', 'emulator', 'slot', 'content_hash',
  'origin_device_id', 'is_public', 'is_gallery', ...TIMES] as const
/** The three kinds, in the order of the list, with their table, which is also the name of their folder. */
const KINDS = [
  { kind: 'save', table: 'saves' }, { kind: 'state', table: 'states' }, { kind: 'screenshot', table: 'screenshots' }
] as const
type Kind = typeof KINDS[number]['kind']

const MD5 = /^[0-9a-f]{32}$/
/** Files in one folder of strays. More are no saves of one ROM. */
const MAX_STRAYS = 10_000
const MAX_ID = 255

/** Lists saves, states and screenshots, and then files whose ROM is gone. */
export async function * listAssets (source: RommSource): AsyncGenerator<ImportRecord<'asset'>> {
  const platforms = await readPlatforms(source)
  for (const { kind, table } of KINDS) {
    yield * readBatches(source, { kind: 'asset', table, columns: COLUMNS }, async (assets) => {
      const roms = await findRoms(source, assets.map((asset) => asset.text('rom_id')))
      return assets.map((asset) => () => toAsset(kind, asset, roms, platforms))
    })
  }
  yield * listStrays(source)
}

interface RomName { platform_id: string | null, fs_name: string | null }

/** Loads the folder names of all platforms, of which there are a few hundred at most. */
async function readPlatforms (source: RommSource): Promise<Map<string, string | null>> {
  const folders = new Map<string, string | null>()
  for await (const rows of source.tables.read('platforms', ['id', 'fs_slug'])) {
    for (const row of rows) folders.set(row.id ?? '', row.fs_slug)
  }
  return folders
}

async function findRoms ({ tables }: RommSource, romIds: readonly (string | null)[]): Promise<Map<string, RomName>> {
  const ids = [...new Set(romIds)].filter((id) => id !== null)
  const rows = await tables.readWhere('roms', ['id', 'platform_id', 'fs_name'], 'id', ids)
  return new Map(rows.map((row) => [row.id ?? '', row]))
}

function toAsset (
  kind: Kind, row: Values<typeof COLUMNS[number]>, roms: ReadonlyMap<string, RomName>,
  platforms: ReadonlyMap<string, string | null>
): ImportRecord<'asset'> {
  const fileName = need(row.text('file_name'), 'file_name')
  const romId = row.text('rom_id')
  const rom = romId === null ? undefined : roms.get(romId)
  const md5 = row.text('content_hash')?.toLowerCase() ?? ''
  const size = row.integer('file_size_bytes')
  return {
    id: need(row.text('id'), 'id'),
    kind,
    rom_id: rom === undefined ? null : romId,
    platform_fs_slug: platforms.get(rom?.platform_id ?? '') ?? null,
    rom_fs_name: rom?.fs_name ?? null,
    user_id: need(row.text('user_id'), 'user_id'),
    file: need(fileIn('assets', posix.join(row.text('file_path') ?? '', fileName), size === null || size < 0 ? null : size), 'file'),
    file_name: fileName,
    emulator: row.text('emulator'),
    slot: row.text('slot'),
    md5: MD5.test(md5) ? md5 : null,
    is_public: row.flag('is_public'),
    is_gallery: row.flag('is_gallery'),
    device_id: row.text('origin_device_id'),
    ...timesOf(row)
  }
}

/**
 * Lists files in the folders of ROM ids that no row has. An update to RomM 5.0 dropped the rows of duplicate ROMs with
 * their saves, and left the files.
 */
async function * listStrays (source: RommSource): AsyncGenerator<ImportRecord<'asset'>> {
  const assets = source.folders.assets
  if (assets === null) return
  for await (const userFolder of listFolders(join(assets, 'users'))) {
    const userId = await findUser(source, userFolder)
    if (userId === null) continue
    for (const { kind, table } of KINDS) {
      const base = join(assets, 'users', userFolder, table)
      for await (const platform of listFolders(base)) {
        for await (const rom of listGoneRoms(source, join(base, platform))) {
          yield * listStrayFiles(source, { kind, userId, platform, path: posix.join('users', userFolder, table, platform, rom) })
        }
      }
    }
  }
}

/** Returns the id of the user whose folder it is: the name is `User:<id>` in hexadecimal digits. */
async function findUser ({ tables }: RommSource, folder: string): Promise<string | null> {
  const id = /^User:(\d{1,9})$/.exec(Buffer.from(folder, 'hex').toString('latin1'))?.[1]
  if (id === undefined) return null
  const users = await tables.readWhere('users', ['id'], 'id', [id])
  return users.length === 0 ? null : id
}

async function * listGoneRoms ({ tables }: RommSource, folder: string): AsyncGenerator<string> {
  for await (const name of listFolders(folder)) {
    if (!/^[1-9]\d{0,8}$/.test(name)) continue
    if ((await tables.readWhere('roms', ['id'], 'id', [name])).length === 0) yield name
  }
}

interface Stray { kind: Kind, userId: string, platform: string, path: string }

async function * listStrayFiles (source: RommSource, stray: Stray): AsyncGenerator<ImportRecord<'asset'>> {
  const { kind, userId, platform, path } = stray
  const folder = join(source.folders.assets ?? '', path)
  for (const name of await listFiles(folder)) {
    source.context.signal.throwIfAborted()
    const filePath = posix.join(path, name)
    const { size, mtime } = await stat(join(folder, name))
    const [emulator] = name.split('/').slice(0, -1)
    yield {
      id: strayId(filePath),
      kind,
      rom_id: null,
      platform_fs_slug: platform,
      rom_fs_name: null,
      user_id: userId,
      file: { path: `assets/${filePath}`, size_bytes: size },
      file_name: basename(name),
      emulator: emulator ?? null,
      slot: null,
      md5: null,
      is_public: false,
      is_gallery: false,
      device_id: null,
      created_at: mtime.toISOString(),
      updated_at: mtime.toISOString()
    }
  }
}

function strayId (path: string): string {
  const id = `stray:${path}`
  return id.length <= MAX_ID ? id : `stray:${createHash('sha256').update(path).digest('hex')}`
}

/** Lists the regular files in a folder and in its folders, which are those of emulators; follows no links. */
async function listFiles (folder: string): Promise<string[]> {
  const files: string[] = []
  for await (const entry of openFolder(folder)) {
    if (entry.isFile()) files.push(entry.name)
    if (!entry.isDirectory()) continue
    for await (const inner of openFolder(join(folder, entry.name))) {
      if (inner.isFile()) files.push(`${entry.name}/${inner.name}`)
      if (files.length >= MAX_STRAYS) return files.sort()
    }
  }
  return files.sort().slice(0, MAX_STRAYS)
}

async function * listFolders (folder: string): AsyncGenerator<string> {
  for await (const entry of openFolder(folder)) if (entry.isDirectory()) yield entry.name
}

async function * openFolder (folder: string) {
  try {
    for await (const entry of await opendir(folder)) yield entry
  } catch (err) {
    if (!isNotFoundError(err)) throw err
  }
}
