import { MEDIA_KINDS } from '@svc/plugin-sdk'
import type { ImportRecord, Media } from '../../contract.ts'
import { fileIn } from '../files.ts'
import type { Row } from '../tables/table-rows.ts'
import { isObject, readValues, type Values } from '../values.ts'
import { groupBy, need, readBatches, readRecords, type RommSource, TIMES, timesOf } from './source.ts'

/** Columns with ids, by the keys of the providers here. */
const PROVIDER_COLUMNS = ['igdb_id', 'sgdb_id', 'moby_id', 'ss_id', 'ra_id', 'launchbox_id', 'hasheous_id', 'tgdb_id',
  'flashpoint_id', 'hltb_id', 'gamelist_id', 'libretro_id', 'steam_id', 'demozoo_id', 'pouet_id', 'csdb_id'] as const
/** Columns with the paths of downloaded media, the most complete first. */
const MEDIA_COLUMNS = ['ss_metadata', 'gamelist_metadata', 'launchbox_metadata'] as const
/** Kinds of media that have fields of their own, or are many per ROM. */
const OTHER_KINDS = new Set(['cover', 'manual', 'screenshot', 'badge'])

const PLATFORM_COLUMNS = ['id', 'fs_slug', 'slug', 'name', 'custom_name', 'description', ...TIMES] as const
const ROM_COLUMNS = ['id', 'platform_id', 'fs_name', 'fs_path', 'fs_size_bytes', 'crc_hash', 'md5_hash', 'sha1_hash', 'name',
  'name_sort_key', 'summary', 'manual_metadata', 'path_cover_l', 'path_cover_s', 'url_cover', 'path_manual', 'url_manual',
  'path_screenshots', 'url_screenshots', ...PROVIDER_COLUMNS, ...MEDIA_COLUMNS, ...TIMES] as const
const FILE_COLUMNS = ['id', 'rom_id', 'file_name', 'file_path', 'file_size_bytes', 'crc_hash', 'md5_hash', 'sha1_hash'] as const

type RomValues = Values<typeof ROM_COLUMNS[number]>

export async function * listPlatforms (source: RommSource): AsyncGenerator<ImportRecord<'platform'>> {
  yield * readRecords(source, { kind: 'platform', table: 'platforms', columns: PLATFORM_COLUMNS }, (row) => ({
    id: need(row.text('id'), 'id'),
    fs_slug: need(row.text('fs_slug'), 'fs_slug'),
    slug: row.text('slug'),
    name: row.text('name'),
    custom_name: row.text('custom_name'),
    description: row.text('description'),
    ...timesOf(row)
  }))
}

export async function * listRoms (source: RommSource): AsyncGenerator<ImportRecord<'rom'>> {
  yield * readBatches(source, { kind: 'rom', table: 'roms', columns: ROM_COLUMNS }, async (roms) => {
    const ids = roms.map((rom) => rom.text('id') ?? '')
    const files = groupBy(await source.tables.readWhere('rom_files', FILE_COLUMNS, 'rom_id', ids), 'rom_id')
    return roms.map((rom, index) => () => {
      const own = (files.get(ids[index] ?? '') ?? [])
        .map((row) => toFile(row, rom, (column) => { source.noteOdd('rom_files', column, row.id ?? '') }))
      return toRom(rom, own.filter((file) => file !== null))
    })
  })
}

/** Returns the path of a file inside its ROM's folder; the file name for a ROM of one file. */
export function pathInRom (filePath: string | null, fileName: string, rom: Values<'fs_path' | 'fs_name'>): string {
  const folder = [rom.text('fs_path'), rom.text('fs_name')].join('/').replace(/^\/+/, '')
  const path = [filePath, fileName].join('/').replace(/^\/+/, '')
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : fileName
}

function toFile (row: Row<typeof FILE_COLUMNS[number]>, rom: RomValues, onOdd: (column: string) => void) {
  const file = readValues(row, onOdd)
  const name = file.text('file_name')
  if (name === null) return null
  return {
    id: file.text('id'),
    path: pathInRom(file.text('file_path'), name, rom),
    size_bytes: sizeOf(file, 'file_size_bytes'),
    crc: file.text('crc_hash'),
    md5: file.text('md5_hash'),
    sha1: file.text('sha1_hash')
  }
}

function toRom (row: RomValues, files: ImportRecord<'rom'>['files']): ImportRecord<'rom'> {
  const manual = manualOf(row)
  const [name, summary] = [row.text('name'), row.text('summary')]
  return {
    id: need(row.text('id'), 'id'),
    platform_id: need(row.text('platform_id'), 'platform_id'),
    fs_name: need(row.text('fs_name'), 'fs_name'),
    fs_size_bytes: sizeOf(row, 'fs_size_bytes'),
    crc: row.text('crc_hash'),
    md5: row.text('md5_hash'),
    sha1: row.text('sha1_hash'),
    files,
    name,
    name_sort_key: row.text('name_sort_key'),
    summary,
    provider_ids: providerIdsOf(row),
    manual_metadata: manual,
    // RomM does not store which texts a person set. A ROM whose metadata a person filled in was edited by hand.
    locked: manual === null ? [] : [...name === null ? [] : ['name'], ...summary === null ? [] : ['summary']],
    cover: mediaOf(row.text('path_cover_l') ?? row.text('path_cover_s'), row.text('url_cover')),
    manual: mediaOf(row.text('path_manual'), row.text('url_manual')),
    screenshots: screenshotsOf(row),
    media: otherMediaOf(row),
    ...timesOf(row)
  }
}

/** RomM 4 stored no size of a ROM, and 0 where it had not measured it. */
function sizeOf<Column extends string> (row: Values<Column>, column: Column): number | null {
  const size = row.integer(column)
  return size === null || size <= 0 ? null : size
}

/** Returns the values that a person set; null if there are none. */
function manualOf (row: RomValues): Record<string, unknown> | null {
  const given = Object.entries(row.object('manual_metadata') ?? {})
    .filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0))
  return given.length === 0 ? null : Object.fromEntries(given)
}

function providerIdsOf (row: RomValues): Record<string, string> {
  const ids = PROVIDER_COLUMNS.map((column) => [column.slice(0, -'_id'.length), row.text(column)] as const)
  return Object.fromEntries(ids.filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== '0'))
}

function mediaOf (path: string | null, url: string | null): Media | null {
  const file = fileIn('resources', path)
  return file === null ? null : { file, url }
}

function screenshotsOf (row: RomValues): Media[] {
  const urls = row.texts('url_screenshots')
  return row.texts('path_screenshots').slice(0, 1_000)
    .map((path, index) => mediaOf(path, urls[index] ?? null)).filter((media) => media !== null)
}

/** Finds the downloaded media in the providers' metadata, under `<kind>_path` with `<kind>_url` beside it. */
function otherMediaOf (row: RomValues): Record<string, Media> {
  const found: Record<string, Media> = {}
  for (const metadata of MEDIA_COLUMNS.map((column) => row.json(column))) {
    if (!isObject(metadata)) continue
    for (const kind of MEDIA_KINDS) {
      const media = mediaOf(toText(metadata[`${kind}_path`]), toText(metadata[`${kind}_url`]))
      if (media !== null && !OTHER_KINDS.has(kind)) found[kind] ??= media
    }
  }
  return found
}

function toText (value: unknown): string | null {
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : null
}
