import { type Match, type Media, minimumAge } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readDate, readNumeric, readRating, readText, unique, youtubeVideoId
} from '@svc/plugin-sdk/readers'
import type { LocalFiles } from './files.ts'
import { type Image, toImageMedia } from './images.ts'
import type { Metadata } from './metadata.ts'
import type { RegionRank } from './regions.ts'

/** All known data about one game. */
export interface KnownGame {
  readonly id: number
  /** Local values, completed with values of the dump. */
  readonly fields: Fields
  readonly images: readonly Image[]
  readonly files: LocalFiles
  readonly rank: RegionRank
}

export function toMatch (game: KnownGame): Match<Metadata, number> {
  const { id, fields } = game
  const metadata = toMetadata(game)
  const { genres, companies, esrb, first_release_date: released, youtube_video_id: videoId } = metadata
  return {
    id,
    name: readText(fields, 'Name'),
    summary: readText(fields, 'Overview'),
    genres,
    companies,
    developers: unique([readText(fields, 'Developer')]),
    publishers: unique([readText(fields, 'Publisher')]),
    age_ratings: unique([esrb || undefined]),
    min_age: minimumAge('ESRB', esrb),
    first_release_date: released === null ? undefined : released * 1000,
    average_rating: readRating(fields, 'CommunityRating', 5),
    youtube_video_id: videoId || undefined,
    media: toMedia(game),
    metadata
  }
}

function toMetadata ({ fields, images, files }: KnownGame): Metadata {
  const released = readDate(fields, 'ReleaseDate') ?? readDate(fields, 'ReleaseYear')
  return {
    first_release_date: released === undefined ? null : released.at / 1000,
    max_players: readCount(fields, 'MaxPlayers'),
    release_type: readText(fields, 'ReleaseType') ?? '',
    cooperative: readText(fields, 'Cooperative')?.toLowerCase() === 'true',
    youtube_video_id: youtubeVideoId(readText(fields, 'VideoURL') ?? '') ?? '',
    community_rating: readNumeric(fields, 'CommunityRating') ?? 0,
    community_rating_count: readCount(fields, 'CommunityRatingCount'),
    wikipedia_url: readText(fields, 'WikipediaURL') ?? '',
    esrb: readText(fields, 'ESRB')?.split(' - ')[0]?.trim() ?? '',
    genres: toList(readText(fields, 'Genres')),
    companies: toCompanies(fields),
    images: [...files.images, ...images],
    ...files.video !== undefined && { video_url: files.video }
  }
}

/** Local media replace the dump's media of the same kind. */
function toMedia ({ images, files, rank }: KnownGame): Media[] {
  const { manual, video } = files
  const local = [...toImageMedia(files.images, rank), ...listMedia('manual', [manual]), ...listMedia('video', [video])]
  const kinds = new Set(local.map(({ kind }) => kind))
  return [...local, ...toImageMedia(images, rank).filter(({ kind }) => !kinds.has(kind))]
}

const readCount = (fields: Fields, key: string) => Math.max(0, Math.trunc(readNumeric(fields, key) ?? 0))

const toList = (text = '') => unique(text.split(/[;,]/).map((value) => value.trim() || undefined))

/** Lists publisher and developer, once if they are equal. */
function toCompanies (fields: Fields): string[] {
  const [publisher, developer] = ['Publisher', 'Developer'].map((name) => readText(fields, name))
  return unique([publisher, developer?.toLowerCase() === publisher?.toLowerCase() ? undefined : developer])
}
