import { type ExportGame, formerGameName } from '@svc/plugin-sdk'
import { type MediaChoice, listMedia } from './media.ts'
import { cleanLine, cleanText, isWritable } from './text.ts'

/** An element of a `game` with its unescaped text. */
export interface Field {
  readonly name: string
  readonly value: string
  /** The only text that the value replaces; null if it replaces none. Absent if it replaces any text. */
  readonly replaces?: string | null
}

/** Lists the elements of a game in file order; unknown values have none. `path` comes first. */
export function listFields (game: ExportGame, choice: MediaChoice): Field[] {
  const texts: [string, string | null | undefined][] = [
    ['name', cleanLine(game.name) || game.fs_name],
    ['desc', game.summary],
    ['rating', formatRating(game.average_rating)],
    ['releasedate', formatDate(game.first_release_date)],
    ['developer', game.developers[0] ?? game.companies[0]],
    ['publisher', game.publishers[0] ?? game.companies[1]],
    ['genre', game.genres[0]],
    ['players', game.player_count],
    ['family', game.franchises[0]],
    ['lang', game.languages[0]],
    ['region', game.regions[0]]
  ]
  const values = texts
    .map(([name, text]) => ({ name, value: name === 'desc' ? cleanText(text ?? '') : cleanLine(text ?? '') }))
    .filter(({ value }) => value !== '')
  const media = listMedia(game, choice).filter(({ path }) => isWritable(path))
    .map(({ name, path }) => ({ name, value: `./${path}` }))
  const fields = [{ name: 'path', value: `./${game.path}` }, ...values, ...media]
  return game.is_named === false ? fields.map((field) => field.name === 'name' ? { ...field, replaces: formerGameName(game) } : field) : fields
}

/** Converts 0 to 100 to 0 to 1 with two decimals. */
function formatRating (rating: number | null): string | null {
  if (rating === null || !Number.isFinite(rating)) return null
  return (Math.min(Math.max(rating, 0), 100) / 100).toFixed(2)
}

/** Formats `YYYYMMDDT000000`; null outside the years 1 to 9999, which the format cannot hold. */
function formatDate (milliseconds: number | null): string | null {
  const date = new Date(milliseconds ?? Number.NaN)
  const year = date.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) return null
  return `${date.toISOString().slice(0, 10).replaceAll('-', '')}T000000`
}
