import {
  type Fields, type Match, type Media, minimumAge, readDate, readFields, readHtml, readId, readInteger, readNumeric,
  readRating, readText, readTexts, readUrl, toFieldsList, unique
} from '@svc/plugin-sdk'
import type { Metadata } from './metadata.ts'

const NAME_LENGTH = 350
const AGE_MAX = 21

/** https://partner.steamgames.com/doc/store/application/categories, by id. */
const GAME_MODES: ReadonlyMap<number, string> = new Map([
  [1, 'Multiplayer'], [2, 'Single player'], [9, 'Co-operative'], [20, 'Massively Multiplayer Online (MMO)'],
  [24, 'Split screen'], [37, 'Split screen'], [38, 'Co-operative'], [39, 'Co-operative']
])
/** Rating boards as the store calls them, where its name is not the usual one. */
const BOARDS: ReadonlyMap<string, string> = new Map([['dejus', 'CLASSIND'], ['kgrb', 'GRAC']])

/** @param capsule the upright picture of the library, when there is one */
export function toMatch (
  id: number, app: Fields, capsule: string | undefined, score?: number
): Match<Metadata, number> {
  const metadata = toMetadata(app)
  const released = metadata.first_release_date
  return {
    id,
    score,
    name: readText(app, 'name')?.slice(0, NAME_LENGTH),
    summary: readHtml(app, 'short_description'),
    genres: metadata.genres,
    companies: metadata.companies,
    developers: metadata.developers,
    publishers: metadata.publishers,
    game_modes: metadata.game_modes,
    min_age: toMinimumAge(app, metadata.required_age),
    first_release_date: released === undefined ? undefined : released * 1000,
    average_rating: readRating(readFields(app, 'metacritic') ?? {}, 'score', 100),
    media: toMedia(app, capsule),
    metadata
  }
}

function toMetadata (app: Fields): Metadata {
  const developers = readTexts(app, 'developers')
  const publishers = readTexts(app, 'publishers')
  const metacritic = readFields(app, 'metacritic') ?? {}
  const modes = toFieldsList(app.categories).map((category) => GAME_MODES.get(readNumeric(category, 'id') ?? 0))
  return withoutEmpty({
    total_rating: readRating(metacritic, 'score', 100)?.toString(),
    first_release_date: readRelease(app),
    genres: unique(toFieldsList(app.genres).map((genre) => readText(genre, 'description'))),
    companies: unique([...developers, ...publishers]),
    publishers,
    developers,
    game_modes: unique(modes),
    platforms: Object.entries(readFields(app, 'platforms') ?? {}).flatMap(([name, has]) => has === true ? [name] : []),
    controller_support: readText(app, 'controller_support'),
    metacritic_url: readText(metacritic, 'url'),
    website: readText(app, 'website'),
    is_free: typeof app.is_free === 'boolean' ? app.is_free : undefined,
    required_age: readAge(app)
  })
}

/** Leaves out what is not known. */
function withoutEmpty (metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata)
    .filter(([, value]) => value !== undefined && (!Array.isArray(value) || value.length > 0)))
}

/** Seconds; undefined for what is to come, and for a year or quarter. */
function readRelease (app: Fields): number | undefined {
  const release = readFields(app, 'release_date') ?? {}
  const date = release.coming_soon === true ? undefined : readDate(release, 'date')
  return date?.precision === 'day' ? date.at / 1000 : undefined
}

function readAge (fields: Fields): number | undefined {
  const age = readNumeric(fields, 'required_age')
  return age !== undefined && Number.isInteger(age) && age >= 0 ? age : undefined
}

/** The strictest of the store's own age and those of the rating boards; the store's 0 says nothing. */
function toMinimumAge (app: Fields, required: number = 0): number | undefined {
  const rated = Object.entries(readFields(app, 'ratings') ?? {}).flatMap(([board, rating]) => {
    const [entry = {}] = toFieldsList([rating])
    const text = readText(entry, 'rating') ?? readInteger(entry, 'rating')?.toString()
    return minimumAge(BOARDS.get(board) ?? board, text ?? '') ?? readId(entry, 'required_age') ?? []
  })
  const ages = required > 0 ? [...rated, required] : rated
  return ages.length === 0 ? undefined : Math.min(AGE_MAX, Math.max(...ages))
}

function toMedia (app: Fields, capsule: string | undefined): Media[] {
  const cover = capsule ?? readUrl(app, 'header_image')
  const screenshots = toFieldsList(app.screenshots).map((screenshot) => readUrl(screenshot, 'path_full'))
  return [
    ...unique([cover]).map((url): Media => ({ kind: 'cover', url })),
    ...unique(screenshots).map((url): Media => ({ kind: 'screenshot', url }))
  ]
}
