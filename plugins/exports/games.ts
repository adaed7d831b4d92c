import type { ExportGame, MediaKind } from '@svc/plugin-sdk'
import type { Db } from '../../core/database/db.ts'
import { safeRelativePath } from '../../core/files/safe-path.ts'
import { stemOf } from '../../core/files/stem-of.ts'
import type { StoredMedia } from '../roms/entities.ts'
import { mapGameFields } from '../roms/game-fields.ts'
import { toReason } from './files/fs-reason.ts'
import { type ExportedFields, type PlatformInLibrary, GAME_FIELDS, PAGE_ROMS, type RomRow, selectRomPage } from './rows.ts'
import type { SkippedRom } from './schemas.ts'
import { findStartFile } from './platform/start-file.ts'

/** A game before its media are published. */
export interface GameDraft {
  game: Omit<ExportGame, 'media'>
  /** The path of its media below each media folder, without extension. */
  stem: string
  /** Media in the resources folder by kind, as paths relative to that folder. */
  sources: ReadonlyMap<MediaKind, string>
}

export interface GamePage { drafts: GameDraft[], skipped: SkippedRom[] }

/** The default player count of a ROM, which means unknown. */
const UNKNOWN_PLAYERS = '1'

/**
 * Reads the ROMs of a platform in one library that are on disk, by file name, one query per 1,000.
 *
 * @param folder the platform's ROM folder, relative to the library
 */
export async function * readGames (
  db: Db, platform: PlatformInLibrary, folder: string
): AsyncGenerator<GamePage, void, undefined> {
  let last = ''
  for (;;) {
    const rows = await selectRomPage(db, platform, last)
    const page: GamePage = { drafts: [], skipped: [] }
    for (const row of rows) addRow(page, row, folder)
    yield page
    const final = rows.at(-1)
    if (final === undefined || rows.length < PAGE_ROMS) return
    last = final.fs_name
  }
}

function addRow (page: GamePage, row: RomRow, folder: string): void {
  try {
    page.drafts.push(toDraft(row, folder))
  } catch (err) {
    page.skipped.push({ rom_id: row.id, reason: toReason(err) })
  }
}

/**
 * @throws PathRefusedError if the stored path leads out of the platform's folder
 * @throws ApiError EXPORT_FAILED for a folder of several games
 */
function toDraft (row: RomRow, folder: string): GameDraft {
  const own = toRelative(`${row.fs_path}/${row.fs_name}`, folder)
  const file = row.is_folder ? startFileOf(row) : null
  const path = safeRelativePath(file === null ? own : `${own}/${file}`)
  const isFolder = row.is_folder && file === null
  return { game: toGame(row, path), stem: isFolder ? path : stemOf(path), sources: listSources(row) }
}

/** ES-DE treats a folder whose name has an extension as one file, whatever the folder contains. */
function startFileOf ({ fs_extension: extension, top_files: names }: RomRow): string | null {
  return extension !== '' && names.length > 1 ? null : findStartFile(names)
}

function toGame (row: RomRow, path: string): GameDraft['game'] {
  return {
    rom_id: row.id,
    path,
    fs_name: row.fs_name,
    fs_name_no_tags: row.fs_name_no_tags,
    name: row.name === null || row.name === '' ? row.fs_name_no_tags : row.name,
    is_named: row.is_named,
    summary: row.summary,
    player_count: row.player_count === UNKNOWN_PLAYERS ? null : row.player_count,
    tags: row.tags,
    ...(row.dump_status === null ? {} : { dump_status: row.dump_status }),
    ...mapGameFields<typeof GAME_FIELDS[number], ExportedFields>(GAME_FIELDS, (name) => row[name])
  }
}

/** Returns the path below the platform's folder. For a path of a former layout, returns the file name. */
function toRelative (path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path.slice(path.lastIndexOf('/') + 1)
}

function listSources (row: RomRow): Map<MediaKind, string> {
  const others = (Object.entries(row.media) as [MediaKind, StoredMedia][])
    .map(([kind, { path }]) => [kind, path] as const)
  const columns = [
    ['cover', row.path_cover_large], ['screenshot', row.path_screenshots[0]], ['manual', row.path_manual]
  ] as const
  return new Map([...others, ...columns].filter((entry): entry is [MediaKind, string] =>
    entry[1] !== null && entry[1] !== undefined && entry[1] !== ''))
}
