import { type GameFields, type Match, type Media, type ProviderId, strictestAge } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readFields, readInteger, readNames, readRating, readText, toFieldsList, unique
} from '@svc/plugin-sdk/readers'
import { toAgeRatings } from './age-ratings.ts'
import type { Game } from './api.ts'
import { imageUrl } from './image.ts'
import type { Metadata, RelatedGame } from './metadata.ts'
import { countPlayers, toMultiplayerModes } from './multiplayer.ts'

/** The regional and platform preferences for a description of a game. */
export interface Viewpoint {
  /** The preferred localisation, such as `ja-JP`; without it IGDB's default text. */
  region?: string | undefined
  /** The platforms whose multiplayer modes count; without them all platforms count. */
  platformIds?: readonly ProviderId[]
}

export function toMatch (game: Game, viewpoint: Viewpoint, score?: number): Match<Metadata, number> {
  const metadata = toMetadata(game, viewpoint.platformIds)
  const localized = readLocalization(game, viewpoint.region)
  return {
    id: game.id,
    score,
    ...toFields(game, metadata),
    name: localized.name ?? game.name.trim(),
    media: toMedia(game, localized.coverUrl),
    metadata
  }
}

/** Builds the record stored as `igdb_metadata`. */
function toMetadata (game: Game, platformIds?: readonly ProviderId[]): Metadata {
  const modes = toMultiplayerModes(game.multiplayer_modes)
  return {
    total_rating: formatRating(game, 'total_rating'),
    aggregated_rating: formatRating(game, 'aggregated_rating'),
    first_release_date: readRelease(game),
    youtube_video_id: readVideoId(game),
    genres: readNames(game, 'genres'),
    franchises: readFranchises(game),
    alternative_names: readNames(game, 'alternative_names'),
    collections: readNames(game, 'collections'),
    companies: readCompanies(game),
    game_modes: readNames(game, 'game_modes'),
    age_ratings: toAgeRatings(game.age_ratings),
    platforms: readPlatforms(game),
    multiplayer_modes: modes,
    player_count: countPlayers(modes, platformIds),
    expansions: toRelatedGames(game.expansions, 'expansion'),
    dlcs: toRelatedGames(game.dlcs, 'dlc'),
    remasters: toRelatedGames(game.remasters, 'remaster'),
    remakes: toRelatedGames(game.remakes, 'remake'),
    expanded_games: toRelatedGames(game.expanded_games, 'expanded'),
    ports: toRelatedGames(game.ports, 'port'),
    similar_games: toRelatedGames(game.similar_games, 'similar')
  }
}

/** Returns the release in seconds since 1970; null if it is not known, or no date is that late. */
function readRelease (game: Game): number | null {
  const seconds = readInteger(game, 'first_release_date')
  return seconds === undefined || Number.isNaN(new Date(seconds * 1000).getTime()) ? null : seconds
}

function toFields (game: Game, metadata: Metadata): GameFields {
  const released = metadata.first_release_date
  return {
    slug: readText(game, 'slug'),
    summary: readText(game, 'summary'),
    alternative_names: metadata.alternative_names,
    genres: metadata.genres,
    franchises: metadata.franchises,
    collections: metadata.collections,
    companies: metadata.companies,
    developers: readCompanies(game, 'developer'),
    publishers: readCompanies(game, 'publisher'),
    game_modes: metadata.game_modes,
    age_ratings: unique(metadata.age_ratings.map(({ rating }) => rating)),
    player_count: metadata.player_count,
    min_age: strictestAge(metadata.age_ratings.map(({ category: board, rating }) => ({ board, rating }))),
    first_release_date: released === null ? undefined : released * 1000,
    average_rating: readRating(game, 'total_rating', 100),
    youtube_video_id: metadata.youtube_video_id ?? undefined
  }
}

function toMedia (game: Game, localizedCoverUrl: string | undefined): Media[] {
  const cover = localizedCoverUrl ?? imageUrl(game.cover, '1080p')
  const screenshots = toFieldsList(game.screenshots).map((image) => imageUrl(image, '720p'))
  return [...listMedia('cover', [cover]), ...listMedia('screenshot', screenshots)]
}

function readLocalization (game: Game, region?: string): { name?: string, coverUrl?: string } {
  if (region === undefined) return {}
  const localization = toFieldsList(game.game_localizations)
    .find((entry) => readFields(entry, 'region')?.identifier === region)
  if (localization === undefined) return {}
  return { name: readText(localization, 'name'), coverUrl: imageUrl(localization.cover, '1080p') }
}

function formatRating (game: Game, key: string): string | null {
  return readRating(game, key, 100)?.toFixed(2) ?? null
}

function readVideoId (game: Game): string | null {
  return unique(toFieldsList(game.videos).map((video) => readText(video, 'video_id')))[0] ?? null
}

function readFranchises (game: Game): string[] {
  const franchise = readFields(game, 'franchise')
  return unique([franchise && readText(franchise, 'name'), ...readNames(game, 'franchises')])
}

function readCompanies (game: Game, role?: 'developer' | 'publisher'): string[] {
  return unique(toFieldsList(game.involved_companies)
    .filter((involved) => role === undefined || involved[role] === true)
    .map((involved) => readFields(involved, 'company'))
    .map((company) => company && readText(company, 'name')))
}

function readPlatforms (game: Game): Metadata['platforms'] {
  return toFieldsList(game.platforms).flatMap((platform) => {
    const id = readInteger(platform, 'id')
    const name = readText(platform, 'name')
    return id === undefined || name === undefined ? [] : [{ igdb_id: id, name }]
  })
}

function toRelatedGames (value: unknown, type: string): RelatedGame[] {
  return toFieldsList(value).flatMap((fields) => toRelatedGame(fields, type))
}

function toRelatedGame (fields: Fields, type: string): RelatedGame[] {
  const id = readInteger(fields, 'id')
  const name = readText(fields, 'name')
  if (id === undefined || name === undefined) return []
  return [{ id, name, slug: readText(fields, 'slug') ?? '', type, cover_url: imageUrl(fields.cover, '1080p') ?? '' }]
}
