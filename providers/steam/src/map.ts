import { type Match, minimumAge } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readDate, readFields, readHtml, readId, readNumeric, readRating, readText, readTexts,
  readUrl, toFieldsList, unique, withoutEmpty
} from '@svc/plugin-sdk/readers'
import type { Metadata } from './metadata.ts'

const AGE_MAX = 21

/** Game modes by id, from https://partner.steamgames.com/doc/store/application/categories. */
const GAME_MODES: ReadonlyMap<number, string> = new Map([
  [1, 'Multiplayer'], [2, 'Single player'], [9, 'Co-operative'], [20, 'Massively Multiplayer Online (MMO)'],
  [24, 'Split screen'], [37, 'Split screen'], [38, 'Co-operative'], [39, 'Co-operative']
])

/** @param capsule the URL of the upright picture, if the app has one */
export function toMatch (id: number, app: Fields, capsule?: string, score?: number): Match<Metadata, number> {
  const metadata = toMetadata(app)
  const { genres, companies, developers, publishers, first_release_date: released } = metadata
  const screenshots = toFieldsList(app.screenshots).map((screenshot) => readUrl(screenshot, 'path_full'))
  return {
    id,
    score,
    name: readText(app, 'name'),
    summary: readHtml(app, 'short_description'),
    ...{ genres, companies, developers, publishers, game_modes: metadata.game_modes },
    min_age: toMinimumAge(app),
    first_release_date: released === undefined ? undefined : released * 1000,
    average_rating: readRating(readFields(app, 'metacritic') ?? {}, 'score', 100),
    media: [...listMedia('cover', [capsule ?? readUrl(app, 'header_image')]), ...listMedia('screenshot', screenshots)],
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
    required_age: readId(app, 'required_age') ?? (readNumeric(app, 'required_age') === 0 ? 0 : undefined)
  })
}

/** Returns the release date in seconds; undefined for future releases and for a bare year or quarter. */
function readRelease (app: Fields): number | undefined {
  const release = readFields(app, 'release_date') ?? {}
  const date = release.coming_soon === true ? undefined : readDate(release, 'date')
  return date?.precision === 'day' ? date.at / 1000 : undefined
}

/** Returns the strictest age among the store's own and the boards' ratings; the store's 0 means unknown. */
function toMinimumAge (app: Fields): number | undefined {
  const ratings = readFields(app, 'ratings') ?? {}
  const ages = [readId(app, 'required_age') ?? [], ...Object.keys(ratings).map((board) => {
    const entry = readFields(ratings, board) ?? {}
    return minimumAge(board, String(entry.rating)) ?? readId(entry, 'required_age') ?? []
  })].flat()
  return ages.length === 0 ? undefined : Math.min(AGE_MAX, Math.max(...ages))
}
