import { createHash } from 'node:crypto'
import {
  type GameFields, type Match, type Media, type RomPlatform, languageName, regionName
} from '@svc/plugin-sdk'
import type { Entry } from './entries.ts'
import { MEDIA, type MediaKey } from './media.ts'
import type { GamelistMetadata } from './metadata.ts'

const SORT_DIGITS = 12
const DAY_MS = 24 * 60 * 60 * 1000
/** Separates genres: `Sports / Soccer-Sports` is two; `Role-Playing`, `Puzzle-Game` and `Shoot-'Em-Up` are one each. */
const BETWEEN_GENRES = /(?<!\b(?:Role|and|Em|Sci|Co|Turn|Real|First|Third|Side|Top|Text|Multi))-(?!Games?\b)(?=[\p{Lu}\p{Lo}\d])/u

/**
 * Creates the match of an entry. Its id is a hash of the platform and the entry's path, the same in every scan. An
 * entry with only a name is no match, because frontends write such an entry for every file.
 */
export function toMatch (
  entry: Entry, platform: RomPlatform, urls: ReadonlyMap<MediaKey, string>
): Match<GamelistMetadata, string> | undefined {
  const { name, sort_name: sortName, ...fields } = toFields(entry.text)
  if (urls.size === 0 && Object.values(fields).every((value) => value === undefined)) return undefined
  return {
    id: createHash('sha1').update(`${platform.slug}/${entry.path}`).digest('hex'),
    name,
    sort_name: sortName,
    ...fields,
    ids: { ss: entry.ssId },
    media: toMedia(urls),
    metadata: toMetadata(entry.text, urls)
  }
}

function toFields (text: Entry['text']): GameFields {
  const rating = toRating(text.get('rating'))
  const players = toPlayerCount(text.get('players'))
  return {
    name: text.get('name'),
    sort_name: toSortKey(text.get('sortname')),
    summary: text.get('desc'),
    regions: toList(text.get('region'), regionName),
    languages: toList(text.get('lang'), languageName),
    companies: toCompanies(text),
    developers: toNames([text.get('developer')]),
    publishers: toNames([text.get('publisher')]),
    franchises: toList(text.get('family')),
    genres: toGenres(text.get('genre')),
    player_count: players === '1' ? undefined : players,
    first_release_date: toTime(text.get('releasedate')),
    average_rating: rating === undefined ? undefined : Math.round(rating * 10_000) / 100
  }
}

function toMetadata (text: Entry['text'], urls: ReadonlyMap<MediaKey, string>): GamelistMetadata {
  const released = text.get('releasedate')
  return {
    rating: toRating(text.get('rating')),
    first_release_date: toTime(released) === undefined ? undefined : released,
    sort_name: text.get('sortname'),
    player_count: toPlayerCount(text.get('players')),
    md5_hash: toMd5(text.get('md5')),
    companies: toCompanies(text),
    franchises: toList(text.get('family')),
    genres: toGenres(text.get('genre')),
    ...Object.fromEntries([...urls].map(([key, url]) => [`${key}_url`, url]))
  }
}

function toMedia (urls: ReadonlyMap<MediaKey, string>): Media[] {
  const media: Media[] = []
  for (const { key, kind } of MEDIA) {
    const url = urls.get(key)
    if (url !== undefined && kind !== null) media.push({ kind, url })
  }
  const image = urls.get('thumbnail') ?? urls.get('image')
  if (image !== undefined && !urls.has('box2d')) media.unshift({ kind: 'cover', url: image })
  return media
}

function toCompanies (text: Entry['text']): string[] | undefined {
  return toNames([text.get('developer'), text.get('publisher')])
}

/** Splits genres. A comma is part of a name: `Race, Driving` is one genre. */
function toGenres (text = ''): string[] | undefined {
  return toNames(text.split(BETWEEN_GENRES))
}

/** @param nameOf returns the name for a code; a text that is no code stays unchanged */
function toList (text = '', nameOf: (code: string) => string | undefined = () => undefined): string[] | undefined {
  return toNames(text.split(',').map((part) => nameOf(part) ?? part))
}

/** Removes `unknown`, which frontends write for missing values. */
function toNames (texts: readonly (string | undefined)[]): string[] | undefined {
  const names = texts.map((name = '') => name.trim()).filter((name) => name !== '' && name !== 'unknown')
  return names.length === 0 ? undefined : [...new Set(names)]
}

/** Reads a rating from 0 to 1. Frontends write 0 for "not rated". */
function toRating (text = ''): number | undefined {
  const rating = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : 0
  return rating > 0 && rating <= 1 ? rating : undefined
}

/** Returns milliseconds since 1970-01-01 UTC. Frontends write that day itself for "not known". */
function toTime (text = ''): number | undefined {
  const digits = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (digits === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = digits.slice(1).map(Number)
  const time = Date.UTC(year, month - 1, day, hour, minute, second)
  const isPossible = new Date(time).toISOString().replace(/[-:]|\.000Z/g, '') === text
  return isPossible && Math.floor(time / DAY_MS) !== 0 ? time : undefined
}

function toPlayerCount (text = ''): string | undefined {
  return /^[1-9]/.test(text) ? text : undefined
}

function toMd5 (text = ''): string | undefined {
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined
}

/** Creates a sort key, in which padded numbers sort by value. */
function toSortKey (text?: string): string | undefined {
  return text?.toLowerCase().replace(/^(?:the|an|a)\s+/, '')
    .replace(/\d+/g, (digits) => digits.padStart(SORT_DIGITS, '0'))
}
