// A game's record at IGDB as Hasheous passes it on: relations are objects keyed by id, dates are text.
import {
  type GameFields, type Media, type Fields, isFields, readFields, readNames, readText, toFieldsList, unique
} from '@svc/plugin-sdk'
import { toAgeRatings } from './age-ratings.ts'

const NAME_LENGTH = 350

/** The first game on a home console. A date before it is the zero of a date type, not a date. */
const EARLIEST_YEAR = 1950

/** The common fields the record knows; those it does not know are absent. */
export function toIgdbFields (game: Fields): GameFields {
  return {
    ...toTexts(game),
    ...toNumbers(game),
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

/** The cover, then the screenshots. */
export function toIgdbMedia (game: Fields): Media[] {
  const screenshots = toFieldsList(game.screenshots).map((image) => imageUrl(image, 't_720p'))
  return [
    ...unique([imageUrl(game.cover, 't_1080p')]).map((url): Media => ({ kind: 'cover', url })),
    ...unique(screenshots).map((url): Media => ({ kind: 'screenshot', url }))
  ]
}

function toTexts (game: Fields): GameFields {
  const name = readText(game, 'name')?.slice(0, NAME_LENGTH)
  const slug = readText(game, 'slug')
  const summary = readText(game, 'summary')
  const [videoId] = unique(toFieldsList(game.videos).map((video) => readText(video, 'video_id')))
  return {
    ...name !== undefined && { name },
    ...slug !== undefined && { slug },
    ...summary !== undefined && { summary },
    ...videoId !== undefined && { youtube_video_id: videoId }
  }
}

function toNumbers (game: Fields): GameFields {
  const rating = game.total_rating
  const released = readDate(game, 'first_release_date')
  return {
    ...typeof rating === 'number' && rating > 0 && rating <= 100 && { average_rating: rating },
    ...released !== undefined && { first_release_date: released }
  }
}

/** Milliseconds since 1970-01-01 UTC. A date without an offset is meant as UTC. */
function readDate (game: Fields, key: string): number | undefined {
  const text = readText(game, key)
  if (text === undefined) return undefined
  const hasOffset = !text.includes('T') || /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const date = new Date(hasOffset ? text : `${text}Z`)
  return date.getUTCFullYear() >= EARLIEST_YEAR ? date.getTime() : undefined
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
  const url = isFields(image) ? readText(image, 'url') : undefined
  if (url === undefined) return undefined
  const absolute = url.startsWith('//') ? `https:${url}` : url
  return absolute.startsWith('https://') ? absolute.replace('/t_thumb/', `/${size}/`) : undefined
}
