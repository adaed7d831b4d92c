// A game's record at IGDB in the form of Hasheous: relations are objects keyed by id, dates are text.
import type { GameFields, Media } from '@svc/plugin-sdk'
import {
  type Fields, isFields, listMedia, readDate, readFields, readNames, readRating, readText, readUrl, toFieldsList,
  unique
} from '@svc/plugin-sdk/readers'
import { toAgeRatings } from './age-ratings.ts'

/** Earlier than any game on a home console. An earlier date is the zero of a date type, not a date. */
const EARLIEST = Date.UTC(1950)

/** Returns the common fields that the record contains. */
export function toIgdbFields (game: Fields): GameFields {
  const released = readDate(game, 'first_release_date')
  const [videoId] = unique(toFieldsList(game.videos).map((video) => readText(video, 'video_id')))
  return {
    name: readText(game, 'name'),
    slug: readText(game, 'slug'),
    summary: readText(game, 'summary'),
    youtube_video_id: videoId,
    average_rating: readRating(game, 'total_rating', 100),
    first_release_date: released !== undefined && released.at >= EARLIEST ? released.at : undefined,
    alternative_names: readNames(game, 'alternative_names'),
    genres: readNames(game, 'genres'),
    franchises: unique([readFranchise(game), ...readNames(game, 'franchises')]),
    collections: readNames(game, 'collections'),
    companies: readCompanies(game),
    developers: readCompanies(game, 'developer'),
    publishers: readCompanies(game, 'publisher'),
    game_modes: readNames(game, 'game_modes'),
    ...toAgeRatings(game.age_ratings)
  }
}

/** Lists the cover, then the screenshots. */
export function toIgdbMedia (game: Fields): Media[] {
  const screenshots = toFieldsList(game.screenshots).map((image) => imageUrl(image, 't_720p'))
  return [...listMedia('cover', [imageUrl(game.cover, 't_1080p')]), ...listMedia('screenshot', screenshots)]
}

function readFranchise (game: Fields): string | undefined {
  const franchise = readFields(game, 'franchise')
  return franchise && readText(franchise, 'name')
}

function readCompanies (game: Fields, role?: 'developer' | 'publisher'): string[] {
  return unique(toFieldsList(game.involved_companies)
    .filter((involved) => role === undefined || involved[role] === true)
    .map((involved) => readFields(involved, 'company'))
    .map((company) => company && readText(company, 'name')))
}

function imageUrl (image: unknown, size: string): string | undefined {
  const url = isFields(image) ? readUrl(image, 'url') : undefined
  return url?.replace('/t_thumb/', `/${size}/`)
}
