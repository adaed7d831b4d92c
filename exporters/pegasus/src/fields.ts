import { type ExportGame, type ExportPlatform, formerGameName } from '@svc/plugin-sdk'
import { listAssets } from './media.ts'
import { findPegasusName } from './platforms.ts'
import { cleanLine, encodeText } from './text.ts'

/** A key with its values, each as written after the colon. */
export interface Field {
  readonly key: string
  readonly values: readonly string[]
  /** The only value that the new one replaces; null if it replaces none. Absent if it replaces any value. */
  readonly replaces?: string | null
}

/** Lists the header fields of a platform's file. */
export function listCollectionFields (platform: ExportPlatform, launch: string | null): Field[] {
  const { name, shortname } = findPegasusName(platform)
  return dropEmpty([
    ['collection', [name]],
    ['shortname', [shortname]],
    ['launch', [launch]]
  ])
}

/** Lists the fields of a game in file order; unknown values have none. */
export function listGameFields (game: ExportGame): Field[] {
  const title = cleanLine(game.name) || game.fs_name
  const sortTitle = cleanLine(game.fs_name_no_tags)
  const fields = dropEmpty([
    ['game', [title]],
    ['file', [`./${game.path}`]],
    ['sort-by', sortTitle === title ? [] : [sortTitle]],
    ['developer', [game.developers[0] ?? game.companies[0]]],
    ['publisher', [game.publishers[0] ?? game.companies[1]]],
    ['genre', game.genres],
    ['tag', game.tags],
    ['players', [formatPlayers(game.player_count)]],
    ['description', [encodeText(game.summary ?? '')]],
    ['release', [formatDate(game.first_release_date)]],
    ['rating', [formatRating(game.average_rating)]],
    ...listAssets(game).map(({ key, path }): [string, string[]] => [key, [`./${path}`]]),
    ['x-region', [game.regions.join(', ')]],
    ['x-language', [game.languages.join(', ')]],
    ['x-dump-status', [game.dump_status]],
    ['x-svc-id', [String(game.rom_id)]]
  ])
  return game.is_named === false ? fields.map((field) => field.key === 'game' ? { ...field, replaces: formerGameName(game) } : field) : fields
}

/** Writes one line per value. */
export function writeField ({ key, values }: Field): string[] {
  return values.map((value) => `${key}: ${value}`)
}

function dropEmpty (fields: [string, readonly (string | null | undefined)[]][]): Field[] {
  return fields
    .map(([key, values]) => ({ key, values: values.map((value) => cleanLine(value ?? '')).filter((value) => value !== '') }))
    .filter(({ values }) => values.length > 0)
}

/** Formats `2` or `1-4`, because Pegasus ignores any other form. */
function formatPlayers (count: string | null): string | null {
  const compact = (count ?? '').replace(/\s/g, '')
  return /^\d+(-\d+)?$/.test(compact) ? compact : null
}

/** Formats `YYYY-MM-DD`; null outside the years 1 to 9999, which the format cannot hold. */
function formatDate (milliseconds: number | null): string | null {
  const date = new Date(milliseconds ?? Number.NaN)
  const year = date.getUTCFullYear()
  return year >= 1 && year <= 9999 ? date.toISOString().slice(0, 10) : null
}

/** Converts 0 to 100 to an integer percentage. */
function formatRating (rating: number | null): string | null {
  if (rating === null || !Number.isFinite(rating)) return null
  return `${Math.round(Math.min(Math.max(rating, 0), 100))}%`
}
