import type { Match, ProviderId } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readDate, readFields, readHtml, readId, readNumeric, readRating, readText, readUrl,
  toFieldsList, unique
} from '@svc/plugin-sdk/readers'
import type { Game } from './api.ts'
import type { Metadata } from './metadata.ts'

/** Basic Genres and Gameplay; the other categories describe the looks, setting and subject of a game. */
const GENRE_CATEGORIES: readonly (number | undefined)[] = [1, 4, undefined]

/** Creates a match; its release date is that on one of the platforms. */
export function toMatch (game: Game, platformIds: readonly ProviderId[], score?: number): Match<Metadata, number> {
  const genres = toFieldsList(game.genres)
  const alternateTitles = listAlternateTitles(game)
  return {
    id: game.game_id,
    score,
    name: game.title,
    summary: readHtml(game, 'description'),
    alternative_names: alternateTitles,
    genres: readGenres(genres.filter((genre) => GENRE_CATEGORIES.includes(readId(genre, 'genre_category_id')))),
    first_release_date: readReleaseDate(game, platformIds),
    average_rating: readRating(game, 'moby_score', 10),
    media: [
      ...listMedia('cover', [readUrl(readFields(game, 'sample_cover') ?? {}, 'image')]),
      ...listMedia('screenshot', toFieldsList(game.sample_screenshots).map((image) => readUrl(image, 'image')))
    ],
    metadata: {
      moby_score: readNumeric(game, 'moby_score')?.toString() ?? null,
      genres: readGenres(genres),
      alternate_titles: alternateTitles,
      platforms: readPlatforms(game)
    }
  }
}

/** Lists the title of a game, then its alternative titles. */
export function listTitles (game: Game): string[] {
  return [game.title, ...listAlternateTitles(game)]
}

function listAlternateTitles (game: Game): string[] {
  return unique(toFieldsList(game.alternate_titles).map((entry) => readText(entry, 'title')))
}

function readGenres (genres: readonly Fields[]): string[] {
  return unique(genres.map((genre) => readText(genre, 'genre_name')))
}

function readPlatforms (game: Game): Metadata['platforms'] {
  return toFieldsList(game.platforms).flatMap((platform) => {
    const id = readId(platform, 'platform_id')
    const name = readText(platform, 'platform_name')
    return id === undefined || name === undefined ? [] : [{ moby_id: id, name }]
  })
}

/** Returns the release date. Only full days count, because a bare year would become the first of January. */
function readReleaseDate (game: Game, platformIds: readonly ProviderId[]): number | undefined {
  return toFieldsList(game.platforms)
    .filter((platform) => platformIds.includes(readId(platform, 'platform_id') ?? 0))
    .map((platform) => readDate(platform, 'first_release_date'))
    .find((date) => date?.precision === 'day')?.at
}
