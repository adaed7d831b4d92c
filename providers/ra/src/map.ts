import type { Match, Media } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readDate, readId, readNumeric, readText, toFieldsList, unique
} from '@svc/plugin-sdk/readers'
import type { Game } from './api.ts'
import type { Achievement, Metadata } from './metadata.ts'

const MEDIA_URL = 'https://media.retroachievements.org'
/** Placeholders for an icon, and for any other picture, that nobody has uploaded. */
const PLACEHOLDER = /\/Images\/00000[12]\.png$/
const BADGE_NAME = /^\w+$/

export function toMatch ({ id, fields: game }: Game): Match<Metadata, number> {
  const metadata = toMetadata(game)
  const { first_release_date: released, genres, companies, achievements } = metadata
  return {
    id,
    name: readText(game, 'Title'),
    genres,
    companies,
    developers: readTextList(game, 'Developer'),
    publishers: readTextList(game, 'Publisher'),
    first_release_date: released === null ? undefined : released * 1000,
    media: [...toMedia(game), ...toBadges(achievements)],
    metadata
  }
}

function toMetadata (game: Fields): Metadata {
  const released = readRelease(game)
  return {
    first_release_date: released === undefined ? null : released / 1000,
    genres: readTextList(game, 'Genre'),
    companies: unique([readText(game, 'Publisher'), readText(game, 'Developer')]),
    achievements: toFieldsList(game.Achievements).flatMap(toAchievement)
  }
}

const readTextList = (game: Fields, key: string): string[] => unique([readText(game, key)])

/** Returns the release date; the first day if only the year or month is known. */
function readRelease (game: Fields): number | undefined {
  const released = readDate(game, 'Released')
  if (released === undefined) return undefined
  const date = new Date(released.at)
  const granularity = readText(game, 'ReleasedAtGranularity')
  if (granularity === 'year') date.setUTCMonth(0, 1)
  if (granularity === 'month') date.setUTCDate(1)
  return date.getTime()
}

function toMedia (game: Fields): Media[] {
  const boxArt = imageUrl(game, 'ImageBoxArt')
  const title = imageUrl(game, 'ImageTitle')
  return [
    ...listMedia('cover', [boxArt ?? title]), ...listMedia('box2d', [boxArt]), ...listMedia('title_screen', [title]),
    ...listMedia('screenshot', [imageUrl(game, 'ImageIngame')])
  ]
}

function imageUrl (game: Fields, key: string): string | undefined {
  const path = readText(game, key)
  const url = path === undefined ? null : URL.parse(path, MEDIA_URL)
  if (url === null || url.protocol !== 'https:' || !/(?:^|\.)retroachievements\.org$/.test(url.hostname)) return undefined
  return PLACEHOLDER.test(url.pathname) ? undefined : url.href
}

function toAchievement (fields: Fields): Achievement[] {
  const id = readId(fields, 'ID')
  const badge = readBadgeName(fields)
  return id === undefined
    ? []
    : [{
        ra_id: id,
        title: readText(fields, 'Title') ?? null,
        description: readText(fields, 'Description') ?? null,
        points: readCount(fields, 'Points'),
        num_awarded: readCount(fields, 'NumAwarded'),
        num_awarded_hardcore: readCount(fields, 'NumAwardedHardcore'),
        badge_id: badge ?? null,
        badge_url: badge === undefined ? null : `${MEDIA_URL}/Badge/${badge}.png`,
        badge_url_lock: badge === undefined ? null : `${MEDIA_URL}/Badge/${badge}_lock.png`,
        display_order: readCount(fields, 'DisplayOrder'),
        type: readText(fields, 'type') ?? readText(fields, 'Type') ?? null
      }]
}

/** Reads an integer, also one written as text; null otherwise. */
export function readCount (fields: Fields, key: string): number | null {
  const count = readNumeric(fields, key)
  return Number.isSafeInteger(count) ? Number(count) : null
}

/** Reads the name of an achievement's badge, which so far consists of digits. */
export function readBadgeName (fields: Fields): string | undefined {
  const name = readText(fields, 'BadgeName') ?? readId(fields, 'BadgeName')?.toString()
  return name !== undefined && BADGE_NAME.test(name) ? name : undefined
}

function toBadges (achievements: readonly Achievement[]): Media[] {
  return listMedia('badge', achievements.flatMap((one) => [one.badge_url ?? undefined, one.badge_url_lock ?? undefined]))
}
