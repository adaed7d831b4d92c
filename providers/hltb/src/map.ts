import type { Match } from '@svc/plugin-sdk'
import { type Fields, listMedia, readDate, readId, readNumeric, readText, readTexts } from '@svc/plugin-sdk/readers'
import { type Metadata, THEIR_NAMES } from './metadata.ts'
import { SITE_URL } from './session.ts'

/** Creates the match of a game from a search or a page; undefined when the game has no id. */
export function toMatch (game: Fields, score?: number): Match<Metadata, number> | undefined {
  const id = readId(game, 'game_id')
  const image = readText(game, 'game_image')
  if (id === undefined) return undefined
  const media = listMedia('cover', [image && `${SITE_URL}/games/${encodeURIComponent(image)}`])
  return { id, score, name: readText(game, 'game_name'), media, metadata: toMetadata(game) }
}

/** Lists the name of a game, then its aliases. */
export function listTitles (game: Fields): string[] {
  const aliases = readText(game, 'game_alias')?.split(',') ?? []
  return [readText(game, 'game_name') ?? '', ...readTexts({ aliases }, 'aliases')]
}

/** True if any time to beat the game is known. */
export const hasTimes = (game: Fields): boolean =>
  ['comp_main', 'comp_plus', 'comp_100', 'comp_all'].some((name) => (readNumeric(game, name) ?? 0) > 0)

/** Reads the year from a number (in searches) or a date (on pages). */
export function readYear (game: Fields): number | undefined {
  const date = readDate(game, 'release_world')
  return date === undefined ? readNumeric(game, 'release_world') : new Date(date.at).getUTCFullYear()
}

function toMetadata (game: Fields): Metadata {
  const numbers = Object.entries(THEIR_NAMES).map(([name, theirs]) => [name, readNumeric(game, theirs)] as const)
  const all = [...numbers, ['release_year', readYear(game)] as const]
  return Object.fromEntries(all.flatMap(([name, value = 0]) => value >= 1 ? [[name, Math.round(value)]] : []))
}
