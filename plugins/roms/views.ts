import { sortComparator } from '../library/names.ts'
import { toFieldsList } from '@svc/plugin-sdk/readers'
import { formatDate } from '../../core/typebox.ts'
import type { FileRow, Game, MarksRow, MatchRow, ProgressRow, RomRow, CallerRomRow, SiblingRow } from './rows.ts'
import type { BuiltRom, RomFileView, RomUserView, RomView, SharedRomView, SiblingView, CallerRomView } from './schemas.ts'
import { ROM_FILE_CATEGORIES } from '../entries/categories.ts'
import type { Addresses } from '../resources/addresses.ts'
import type { RomProvider, RomProviders } from './providers.ts'
import { BADGE_FOLDER, badgeStem } from '../resources/badges.ts'
import { gameFieldsIn, mapGameFields } from './game-fields.ts'
import type { RomColumnIn } from './rom-columns.ts'

function toMarksView (row: MarksRow): RomUserView {
  return {
    ...row,
    last_played: formatDate(row.last_played),
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at)
  }
}

/** The marks of a caller who has made none. */
function noMarks (rom: CallerRomRow): RomUserView {
  const created = formatDate(rom.created_at)
  return {
    id: -1,
    user_id: -1,
    rom_id: -1,
    created_at: created,
    updated_at: created,
    last_played: null,
    is_main_sibling: false,
    backlogged: false,
    now_playing: false,
    hidden: false,
    rating: 0,
    difficulty: 0,
    completion: 0,
    status: null
  }
}

export function toFileView (row: FileRow): RomFileView {
  const category = ROM_FILE_CATEGORIES.find((known) => known === row.category) ?? null
  return {
    ...row,
    full_path: `${row.file_path}/${row.file_name}`,
    category: category ?? (row.is_top_level ? 'game' : null),
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at),
    last_modified: formatDate(row.last_modified)
  }
}

const compareTexts = (a: string, b: string) => a === b ? 0 : a < b ? -1 : 1

function toSiblingViews (rows: readonly SiblingRow[]): SiblingView[] {
  return rows
    .map((row) => ({ ...row, sort_comparator: sortComparator(row.name ?? row.fs_name_no_tags) }))
    .sort((a, b) => compareTexts(a.sort_comparator, b.sort_comparator) || a.id - b.id)
}

const readId = (provider: RomProvider, id: string | null) =>
  id === null ? null : provider.id === 'integer' ? Number(id) : id

type Metadata = NonNullable<MatchRow['metadata']>

/** Adds `<kind>_path` beside each `<kind>_url` whose file is stored. */
function withPaths (metadata: Metadata, media: RomRow['media'], addresses: Addresses): Metadata {
  const paths = Object.entries(media).flatMap(([kind, { url, path }]) =>
    path !== null && metadata[`${kind}_url`] === url ? [[`${kind}_path`, addresses.toPath(path)] as const] : [])
  return paths.length === 0 ? metadata : { ...metadata, ...Object.fromEntries(paths) }
}

/** Returns `<key>_id` and `<key>_metadata` of every provider; null and an empty object if it does not know the ROM. */
function toProviderFields (
  { media, matches }: RomRow, providers: RomProviders, addresses: Addresses
): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...providers.unknown }
  for (const { provider: key, provider_id: id, metadata } of matches) {
    const provider = providers.byKey.get(key)
    if (provider === undefined) continue
    fields[`${key}_id`] = readId(provider, id)
    if (provider.hasMetadata) fields[`${key}_metadata`] = withPaths(metadata ?? {}, media, addresses)
  }
  return fields
}

/** Returns `<key>_progress` of every provider that reports progress. */
function toProgressFields (
  games: readonly Game[], progress: readonly ProgressRow[], { progressKeys }: RomProviders
): Record<string, unknown> {
  return Object.fromEntries(progressKeys.map((key) => {
    const game = games.find(({ provider }) => provider === key)
    const found = progress.find((row) => row.provider === key && row.provider_id === game?.provider_id)
    return [`${key}_progress`, found?.progress ?? null]
  }))
}

/** Returns the picture of a played game if no save has one: the title screen, else a screenshot. */
export const stillOf = ({ media, path_screenshots: [first] }: Pick<RomRow, 'media' | 'path_screenshots'>): string | null =>
  media.title_screen?.path ?? first ?? null

/** Adds the addresses of stored badges to achievements; all other fields stay as the provider gave them. */
function toAchievements (
  { id, platform_id: platformId, badges }: RomRow, metadata: Metadata, addresses: Addresses
): Metadata {
  if (!Array.isArray(metadata.achievements)) return metadata
  const names = new Map(badges.map((name) => [badgeStem(name), name]))
  const locate = (url: unknown) => {
    const name = typeof url === 'string' ? names.get(badgeStem(url)) : undefined
    return name === undefined ? null : addresses.locate(`roms/${platformId}/${id}/${BADGE_FOLDER}/${name}`)
  }
  const achievements = toFieldsList(metadata.achievements).map((one) =>
    ({ ...one, badge_path: locate(one.badge_url), badge_path_lock: locate(one.badge_url_lock) }))
  return { ...metadata, achievements }
}

const IN_METADATUM = gameFieldsIn('metadatum')

/** Sorts lists, which are sent in alphabetical order. */
const toValue = (value: unknown) => Array.isArray(value) ? value.toSorted() : value

function toMetadatum (row: RomRow): RomView['metadatum'] {
  type Fields = Omit<RomView['metadatum'], 'rom_id'>
  const fields = mapGameFields<keyof Fields, Fields>(IN_METADATUM, (name) => toValue(row[name]))
  return { rom_id: row.id, ...fields }
}

function toArtwork (row: RomRow, version: string, addresses: Addresses) {
  const cover = (path: string | null) => path === null || path === '' ? '' : addresses.locate(path, version)
  const toPath = (path: string | null | undefined) => path === null || path === undefined || path === '' ? '' : addresses.toPath(path)
  return {
    path_cover_small: cover(row.path_cover_small),
    path_cover_large: cover(row.path_cover_large),
    url_cover: row.url_cover ?? '',
    has_manual: row.path_manual !== null && row.path_manual !== '',
    path_manual: toPath(row.path_manual),
    url_manual: row.url_manual ?? '',
    path_video: toPath(row.media.video?.path ?? row.media.video_normalized?.path) || null,
    merged_screenshots: row.path_screenshots.map((path) => addresses.locate(path, version))
  }
}

type ViewColumn = RomColumnIn<'view'> | 'dump_status' | 'platform_slug' | 'platform_fs_slug' | 'platform_custom_name'

/** Returns the columns that are sent unchanged, in a literal, because the engine builds and copies literals fastest. */
function toFields (row: RomRow): Pick<RomRow, ViewColumn> {
  return {
    id: row.id,
    library_id: row.library_id,
    platform_id: row.platform_id,
    platform_slug: row.platform_slug,
    platform_fs_slug: row.platform_fs_slug,
    platform_custom_name: row.platform_custom_name,
    fs_name: row.fs_name,
    fs_name_no_tags: row.fs_name_no_tags,
    fs_name_no_ext: row.fs_name_no_ext,
    fs_extension: row.fs_extension,
    fs_path: row.fs_path,
    fs_size_bytes: row.fs_size_bytes,
    name: row.name,
    name_sort_key: row.name_sort_key,
    slug: row.slug,
    summary: row.summary,
    youtube_video_id: row.youtube_video_id,
    has_soundtrack: row.has_soundtrack,
    is_identified: row.is_identified,
    revision: row.revision,
    regions: row.regions,
    languages: row.languages,
    tags: row.tags,
    crc_hash: row.crc_hash,
    md5_hash: row.md5_hash,
    sha1_hash: row.sha1_hash,
    ra_hash: row.ra_hash,
    has_nested_single_file: row.has_nested_single_file,
    has_multiple_files: row.has_multiple_files,
    missing_from_fs: row.missing_from_fs,
    dump_status: row.dump_status
  }
}

/** Returns the part of a ROM that every caller gets, in lists, events and details. */
export function toSharedView (row: RomRow, providers: RomProviders, addresses: Addresses): SharedRomView {
  const achievements = row.matches.find((match) => match.provider === 'ra')?.metadata ?? {}
  const updatedAt = formatDate(row.updated_at)
  return {
    // First, because the largest part of an object literal is then copied at once.
    ...toProviderFields(row, providers, addresses),
    ...toFields(row),
    ...toArtwork(row, updatedAt, addresses),
    platform_display_name: row.platform_custom_name ?? row.platform_name,
    alternative_names: row.alternative_names.toSorted(),
    metadatum: toMetadatum(row),
    manual_metadata: row.manual_metadata ?? {},
    is_identifying: false,
    is_unidentified: !row.is_identified,
    has_simple_single_file: !row.has_nested_single_file && !row.has_multiple_files,
    full_path: `${row.fs_path}/${row.fs_name}`,
    created_at: formatDate(row.created_at),
    updated_at: updatedAt,
    merged_ra_metadata: toAchievements(row, achievements, addresses),
    files: row.files.map(toFileView)
  }
}

/**
 * Returns the part of a ROM that depends on the caller.
 *
 * @param games identities of the ROM at the providers that report progress
 * @param progress the caller's progress in this and perhaps other games
 */
export function toCallerView (
  row: CallerRomRow, games: readonly Game[], progress: readonly ProgressRow[], providers: RomProviders
): CallerRomView {
  return {
    ...toProgressFields(games, progress, providers),
    rom_user: row.marks === null ? noMarks(row) : toMarksView(row.marks),
    has_notes: row.has_notes,
    sibling_roms: toSiblingViews(row.siblings)
  }
}

/**
 * Returns the fields that every caller gets, as `BuiltRom.shared`. The bytes have memory of their own, because they are
 * cached: a part of Node's pool would keep the whole pool.
 */
export function toSharedJson (view: SharedRomView): Buffer {
  const text = JSON.stringify(view).slice(0, -1)
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** Writes a ROM as JSON, in parts. Both have fields, and none in common. */
export const writeRom = ({ shared, more }: BuiltRom): Buffer[] => [shared, Buffer.from(`,${JSON.stringify(more).slice(1)}`)]
const serializeRom = (rom: BuiltRom): string => Buffer.concat(writeRom(rom)).toString()

/**
 * Serializes ROMs without their schemas, because views are built field by field from typed rows. The schemas are for
 * the OpenAPI document, and a test validates responses against them.
 */
export const romSerializer = ({ httpStatus }: { httpStatus?: string }) => httpStatus === '200' ? serializeRom : JSON.stringify
