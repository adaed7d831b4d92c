import type { GameFields, Match, Media, MediaKind } from '@svc/plugin-sdk'
import type { Config } from '../../../core/config/config.ts'
import { nameSortKey } from '../../../core/library/names.ts'
import type { Rom, StoredMedia } from '../../roms/entities.ts'

/** The order in which sources are believed, by field group. Those the configuration leaves out follow in load order. */
export interface Priorities {
  metadata: readonly string[]
  cover: readonly string[]
  screenshot: readonly string[]
  manual: readonly string[]
  media: readonly MediaKind[]
}

export type Matches = ReadonlyMap<string, Match>

/** What a merge writes. */
export type MergedFields = Pick<Rom, 'name' | 'name_sort_key' | 'slug' | 'summary' | 'alternative_names' |
  'youtube_video_id' | 'genres' | 'franchises' | 'collections' | 'companies' | 'developers' | 'publishers' |
  'game_modes' | 'age_ratings' | 'min_age' | 'player_count' | 'first_release_date' | 'average_rating' | 'regions' |
  'languages' | 'url_cover' | 'url_screenshots' | 'url_manual' | 'media'>

/** What was there before and what the file name says. */
export interface MergeBase {
  fs_name_no_tags: string
  regions: string[]
  languages: string[]
  /** What serves as cover when no source has one. */
  own_cover: string | null
  /** Values that are kept when set: those of a ROM that was matched before. */
  kept: Partial<Pick<Rom, 'name' | 'summary' | 'url_cover' | 'url_screenshots' | 'url_manual' | 'media'>>
}

/** @param keys the providers there are, in load order */
export function readPriorities (config: Config, keys: readonly string[]): Priorities {
  const { metadata, artwork, cover, screenshot, manual } = config.scan.priority
  const complete = (order: readonly string[]) => [...new Set([...order, ...keys])]
  return {
    metadata: complete(metadata),
    cover: complete(cover ?? artwork),
    screenshot: complete(screenshot ?? artwork),
    manual: complete(manual ?? artwork),
    media: config.scan.media
  }
}

function sortMatches (matches: Matches, order: readonly string[]): Match[] {
  const rank = (key: string) => {
    const index = order.indexOf(key)
    return index === -1 ? order.length : index
  }
  return [...matches].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1)).map(([, match]) => match)
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === '' ||
  (Array.isArray(value) && value.length === 0)

/** The first value that says something. */
function pick<Name extends keyof GameFields> (matches: Match[], name: Name): NonNullable<GameFields[Name]> | null {
  for (const match of matches) {
    const value = match[name]
    if (!isEmpty(value)) return value as NonNullable<GameFields[Name]>
  }
  return null
}

/** A list without blanks and repeats, in its order. */
const tidy = (values: readonly string[] | null) =>
  [...new Set((values ?? []).map((value) => value.trim()).filter(Boolean))]

function averageRating (matches: Match[]): number | null {
  const ratings = matches.map((match) => match.average_rating).filter((rating) => rating !== undefined)
  return ratings.length === 0 ? null : ratings.reduce((sum, rating) => sum + rating, 0) / ratings.length
}

/** Null when no source has a rating: an age limit is not for them. */
function strictestAge (matches: Match[]): number | null {
  const ages = matches.flatMap((match) => match.min_age ?? [])
  return ages.length === 0 ? null : Math.max(...ages)
}

/** Anything else, such as `javascript:`, would reach clients as an address to open. */
const FETCHABLE = /^(?:https?|file|folder):\/\//i

function mediaOf (matches: Match[], kind: MediaKind): Media[] {
  for (const match of matches) {
    const found = (match.media ?? []).filter((media) => media.kind === kind && FETCHABLE.test(media.url))
    if (found.length > 0) return found
  }
  return []
}

/** Kinds that have columns of their own. */
const COLUMN_KINDS: readonly MediaKind[] = ['cover', 'screenshot', 'manual']

function pickMedia (matches: Matches, priorities: Priorities, before: Rom['media'] | undefined): Rom['media'] {
  const ordered = sortMatches(matches, priorities.cover)
  const media: Partial<Record<MediaKind, StoredMedia>> = {}
  for (const kind of priorities.media) {
    if (COLUMN_KINDS.includes(kind)) continue
    const known = before?.[kind]
    const [found] = mediaOf(ordered, kind)
    if (found !== undefined) media[kind] = { url: found.url, path: known?.url === found.url ? known.path : null }
    else if (known !== undefined) media[kind] = known
  }
  return media
}

/** A name that is only the file name gives way to a provider's. */
function keptName (base: MergeBase): string | null {
  const { name } = base.kept
  return isEmpty(name) || name === base.fs_name_no_tags ? null : name ?? null
}

/** One record from all matches: each field from the first source, in priority order, that has a value. */
export function mergeMatches (matches: Matches, base: MergeBase, priorities: Priorities): MergedFields {
  const ordered = sortMatches(matches, priorities.metadata)
  const name = keptName(base) ?? pick(ordered, 'name') ?? base.fs_name_no_tags
  const [cover] = mediaOf(sortMatches(matches, priorities.cover), 'cover')
  const screenshots = mediaOf(sortMatches(matches, priorities.screenshot), 'screenshot').map((media) => media.url)
  const [manual] = priorities.media.includes('manual') ? mediaOf(sortMatches(matches, priorities.manual), 'manual') : []
  const players = ordered.map((match) => match.player_count).find((count) => !isEmpty(count) && count !== '1')
  return {
    name,
    name_sort_key: nameSortKey(pick(ordered, 'sort_name') ?? name),
    slug: pick(ordered, 'slug'),
    summary: isEmpty(base.kept.summary) ? pick(ordered, 'summary') : base.kept.summary ?? null,
    alternative_names: tidy(pick(ordered, 'alternative_names')).sort(),
    youtube_video_id: pick(ordered, 'youtube_video_id'),
    genres: tidy(pick(ordered, 'genres')),
    franchises: tidy(pick(ordered, 'franchises')),
    collections: tidy(pick(ordered, 'collections')),
    companies: tidy(pick(ordered, 'companies')),
    developers: tidy(pick(ordered, 'developers')),
    publishers: tidy(pick(ordered, 'publishers')),
    game_modes: tidy(pick(ordered, 'game_modes')),
    age_ratings: tidy(pick(ordered, 'age_ratings')),
    min_age: strictestAge(ordered),
    player_count: players ?? '1',
    first_release_date: pick(ordered, 'first_release_date'),
    average_rating: averageRating(ordered),
    regions: tidy(pick(ordered, 'regions') ?? base.regions),
    languages: tidy(pick(ordered, 'languages') ?? base.languages),
    url_cover: isEmpty(base.kept.url_cover) ? cover?.url ?? base.own_cover : base.kept.url_cover ?? null,
    url_screenshots: isEmpty(base.kept.url_screenshots) ? tidy(screenshots) : base.kept.url_screenshots ?? [],
    url_manual: isEmpty(base.kept.url_manual) ? manual?.url ?? null : base.kept.url_manual ?? null,
    media: pickMedia(matches, priorities, base.kept.media)
  }
}
