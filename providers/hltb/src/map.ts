import { type Fields, type Match, type Media, readDate, readId, readNumeric, readText, unique } from '@svc/plugin-sdk'
import { type Metadata, THEIR_NAMES } from './metadata.ts'
import { SITE_URL } from './session.ts'

const NAME_LENGTH = 350

/** A game of a search or of a page; undefined when it has no id. */
export function toMatch (game: Fields, score?: number): Match<Metadata, number> | undefined {
  const id = readId(game, 'game_id')
  if (id === undefined) return undefined
  const image = readText(game, 'game_image')
  const cover = image && `${SITE_URL}/games/${encodeURIComponent(image)}`
  return {
    id,
    score,
    name: readText(game, 'game_name')?.slice(0, NAME_LENGTH),
    media: unique([cover]).map((url): Media => ({ kind: 'cover', url })),
    metadata: toMetadata(game)
  }
}

/** Whether it is known how long the game takes. */
export function hasTimes (game: Fields): boolean {
  return ['comp_main', 'comp_plus', 'comp_100', 'comp_all'].some((name) => (readNumeric(game, name) ?? 0) > 0)
}

/** A number in searches, a date on pages. */
export function readYear (game: Fields): number | undefined {
  const year = readNumeric(game, 'release_world')
  if (year !== undefined) return year
  const date = readDate(game, 'release_world')
  return date && new Date(date.at).getUTCFullYear()
}

function toMetadata (game: Fields): Metadata {
  const numbers = Object.entries(THEIR_NAMES).map(([ours, theirs]) => [ours, readNumeric(game, theirs)] as const)
  const all = [...numbers, ['release_year', readYear(game)] as const]
  return Object.fromEntries(all.flatMap(([name, value = 0]) => value >= 1 ? [[name, Math.round(value)]] : []))
}
