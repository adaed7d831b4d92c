import type { OutgoingNotification } from '../channel.ts'
import type { ExportGame } from '../exporter.ts'
import type { Rom, RomFile, RomPlatform } from '../metadata.ts'
import { splitTitles, toSearchTerm } from '../titles/index.ts'

/** The parts of a ROM that a test sets; `createRom` completes them. */
export interface RomOverrides extends Partial<Omit<Rom, 'platform' | 'files'>> {
  platform?: Partial<RomPlatform>
  files?: readonly Partial<RomFile>[]
}

/**
 * Creates a complete ROM of the Super Nintendo. The names derive from `fs_name`, and its one file derives from the
 * ROM. Everything else is unknown by default: hashes are missing, lists empty.
 */
export function createRom (overrides: RomOverrides = {}): Rom {
  const { platform: givenPlatform, files: givenFiles, ...given } = overrides
  const platform = createPlatform(givenPlatform)
  const name = given.fs_name ?? 'Chrono Harbor (USA).sfc'
  const extension = /\.([^.\s]+)$/.exec(name)?.[1] ?? ''
  const rom = {
    fs_name: name,
    fs_name_no_ext: extension === '' ? name : name.slice(0, -extension.length - 1),
    fs_name_no_tags: toSearchTerm(name),
    fs_extension: extension,
    fs_path: platform.fs_path,
    regions: [],
    languages: [],
    tags: [],
    titles: splitTitles(toSearchTerm(name)),
    region_codes: [],
    ...given,
    platform
  }
  return { ...rom, files: (givenFiles ?? [{}]).map((file) => createFile(rom, file)) }
}

function createPlatform (given: Partial<RomPlatform> = {}): RomPlatform {
  const slug = given.slug ?? 'snes'
  const folder = given.fs_slug ?? slug
  return { slug, fs_slug: folder, name: slug, fs_path: `roms/${folder}`, ids: [], ...given }
}

function createFile (rom: Omit<Rom, 'files'>, given: Partial<RomFile>): RomFile {
  return {
    file_name: rom.fs_name,
    file_path: rom.fs_path,
    file_size_bytes: 1024,
    crc_hash: rom.crc_hash,
    md5_hash: rom.md5_hash,
    sha1_hash: rom.sha1_hash,
    is_top_level: true,
    ...given
  }
}

/** Creates a game to export, with every field filled. */
export function createExportGame (overrides: Partial<ExportGame> = {}): ExportGame {
  const fsName = overrides.fs_name ?? 'Chrono Harbor (USA).sfc'
  return {
    rom_id: 1,
    path: fsName,
    fs_name: fsName,
    fs_name_no_tags: toSearchTerm(fsName),
    name: toSearchTerm(fsName),
    summary: 'Sail a chain of islands.\nEach island is an hour of one day.',
    genres: ['Role-Playing', 'Adventure'],
    franchises: ['Chrono Harbor'],
    companies: ['Harbor Works', 'Tidal'],
    developers: ['Harbor Works'],
    publishers: ['Tidal'],
    regions: ['USA'],
    languages: ['English'],
    tags: [],
    player_count: '1-2',
    first_release_date: Date.UTC(1995, 2, 11),
    average_rating: 85,
    media: { cover: 'covers/Chrono Harbor (USA).png' },
    ...overrides
  }
}

/** Creates a notification to deliver. */
export function createNotification (overrides: Partial<OutgoingNotification> = {}): OutgoingNotification {
  return {
    event: 'notification',
    id: 7,
    kind: 'scan_completed',
    level: 'success',
    title: 'Scan completed',
    body: '12 ROMs were added.',
    url: 'https://svc.example/scan',
    data: { added: 12 },
    actor: { id: 1, username: 'ada' },
    created_at: '2026-01-02T03:04:05.000Z',
    ...overrides
  }
}
