import { type Match, strictestAge } from '@svc/plugin-sdk'
import {
  type Fields, parseDate, readFields, readNumeric, readRating, readText, toFieldsList, unique
} from '@svc/plugin-sdk/readers'
import type { Game } from './api.ts'
import { readDump } from './dump.ts'
import { MEDIA_NAMES, listMediaUrls, toMedia } from './media.ts'
import type { Metadata } from './metadata.ts'
import { type Viewpoint, ofLanguage, ofRegion, readClean } from './regions.ts'

const BEST_NOTE = 20
const NOT_A_GAME = /^zzz\(notgame\)/i

export function toMatch ({ id, fields: game }: Game, viewpoint: Viewpoint, score?: number): Match<Metadata, number> {
  const urls = listMediaUrls(game, viewpoint.mediaRegions)
  const metadata = toMetadata(game, urls, viewpoint)
  const { companies, franchises, genres, age_ratings: ratings } = metadata
  const released = metadata.first_release_date
  const summary = ofLanguage(game.synopsis, viewpoint.languages)[0]
  return {
    id,
    score,
    name: chooseName(game, viewpoint.regions),
    summary,
    alternative_names: metadata.alternative_names,
    companies,
    developers: readName(game, 'developpeur'),
    publishers: readName(game, 'editeur'),
    franchises,
    game_modes: metadata.game_modes,
    genres,
    age_ratings: unique(ratings.map(({ rating }) => rating)),
    min_age: strictestAge(ratings.map(({ category: board, rating }) => ({ board, rating }))),
    player_count: readPlayers(game),
    regions: metadata.dump_regions,
    languages: metadata.dump_languages,
    first_release_date: released === null ? undefined : released * 1000,
    average_rating: readRating(readFields(game, 'note') ?? {}, 'text', BEST_NOTE),
    media: toMedia(urls),
    metadata
  }
}

function toMetadata (game: Fields, urls: ReadonlyMap<string, string>, { regions, languages }: Viewpoint): Metadata {
  const note = readNumeric(readFields(game, 'note') ?? {}, 'text')
  const released = readRelease(game, regions)
  const orFrench = unique([...languages, 'en', 'fr'])
  return {
    ss_score: note === undefined || note < 0 || note > BEST_NOTE ? null : String(note / 2),
    first_release_date: released === undefined ? null : released / 1000,
    alternative_names: listNames(game),
    companies: unique([...readName(game, 'editeur'), ...readName(game, 'developpeur')]),
    franchises: readTerms(game, 'familles', orFrench),
    game_modes: readTerms(game, 'modes', orFrench),
    genres: readTerms(game, 'genres', ['en']),
    age_ratings: toFieldsList(game.classifications).flatMap(toAgeRating),
    player_count: readPlayers(game) ?? '1',
    ...readDump(game),
    ...Object.fromEntries(MEDIA_NAMES.map((name) => [`${name}_url`, urls.get(name) ?? null]))
  }
}

/** Lists all names of a game, the site's own name first. */
export function listNames (game: Fields): string[] {
  const names = toFieldsList(game.noms)
  const own = names.filter((name) => readText(name, 'region') === 'ss')
  return unique([...own, ...names].map(readGameName))
}

/** True if a game has a name of the site's own. */
export const hasOwnName = (game: Fields): boolean =>
  toFieldsList(game.noms).some((name) => readText(name, 'region') === 'ss')

/** True if an entry is no game, such as a BIOS. A search result says so only in one of its names. */
export function isNoGame (game: Fields): boolean {
  return String(game.notgame) === 'true' || listNames(game).some((name) => NOT_A_GAME.test(name))
}

function chooseName (game: Fields, regions: readonly string[]): string | undefined {
  const names = toFieldsList(game.noms).filter((name) => readGameName(name) !== undefined)
  const [best] = ofRegion(names, regions)
  return best === undefined ? listNames(game)[0] : readGameName(best)
}

const readGameName = (entry: Fields): string | undefined => readClean(entry)?.replaceAll(' : ', ': ')

const readName = (game: Fields, key: string): string[] => unique([readClean(readFields(game, key) ?? {})])

/** Reads genres, modes and the like, each with a name in the first of these languages that has one. */
function readTerms (game: Fields, key: string, languages: readonly string[]): string[] {
  return unique(toFieldsList(game[key]).map((term) => ofLanguage(term.noms, languages)[0]))
}

/** Returns the earliest date of the first region that has one, else the earliest of all. */
function readRelease (game: Fields, regions: readonly string[]): number | undefined {
  const dates = toFieldsList(game.dates).filter((entry) => parseDate(readText(entry, 'text') ?? '') !== undefined)
  const wanted = ofRegion(dates, regions)
  const times = (wanted.length > 0 ? wanted : dates).flatMap((entry) => parseDate(readText(entry, 'text') ?? '')?.at ?? [])
  return times.length > 0 ? Math.min(...times) : undefined
}

function toAgeRating (fields: Fields): { rating: string, category: string }[] {
  const rating = readText(fields, 'text')
  const category = readText(fields, 'type')
  return rating === undefined || category === undefined ? [] : [{ rating, category }]
}

function readPlayers (game: Fields): string | undefined {
  const players = readText(readFields(game, 'joueurs') ?? {}, 'text')
  return players === 'null' ? undefined : players
}
