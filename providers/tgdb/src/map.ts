import { type GameFields, type Media, minimumAge } from '@svc/plugin-sdk'
import { type Fields, readDate, readHtml, readId, readText, toFieldsList, unique } from '@svc/plugin-sdk/readers'
import { fetchOptionalData } from './api.ts'
import type { TgdbContext } from './config.ts'
import { type Game, listAlternates } from './games.ts'

const VIDEO_ID = /(?:^|[=/])([\w-]{11})(?:$|[?&])/

export async function toMatch (game: Game, media: Media[], ctx: TgdbContext, score?: number) {
  const lists = ['genres', 'developers', 'publishers'].map((list) => readNamesOf(game, list, ctx))
  const [genres, developers = [], publishers = []] = await Promise.all(lists)
  const players = readId(game, 'players')
  return {
    id: game.id,
    score,
    name: game.game_title,
    summary: readHtml(game, 'overview'),
    alternative_names: listAlternates(game),
    ...{ genres, developers, publishers },
    companies: unique([...developers, ...publishers]),
    game_modes: readText(game, 'coop')?.toLowerCase() === 'yes' ? ['Co-operative'] : undefined,
    player_count: players === undefined || players === 1 ? players?.toString() : `1-${players}`,
    first_release_date: readDate(game, 'release_date')?.at,
    youtube_video_id: VIDEO_ID.exec(readText(game, 'youtube') ?? '')?.[1],
    ...readAgeRating(game),
    media
  }
}

/** Reads an age rating: `E - Everyone` is `E`; a text such as `Not Rated` is no rating. */
function readAgeRating (game: Game): Pick<GameFields, 'age_ratings' | 'min_age'> {
  const rating = readText(game, 'rating')?.split(' - ', 1)[0]?.trim() ?? ''
  return /^[A-Z\d+]{1,4}$/.test(rating) ? { age_ratings: [rating], min_age: minimumAge('ESRB', rating) } : {}
}

/** Resolves ids to names. Requests the whole list if a game has any id; the list is cached for a month. */
async function readNamesOf (game: Game, list: string, ctx: TgdbContext): Promise<string[]> {
  const ids: readonly unknown[] = Array.isArray(game[list]) ? game[list] : []
  if (ids.length === 0) return []
  const entries = await ctx.memo(list, () => readList(list, ctx))
  return unique(ids.map((id) => readHtml(entries.get(Number(id)) ?? {}, 'name')))
}

/** Reads a list of thousands of names, by id. */
async function readList (list: string, ctx: TgdbContext): Promise<Map<number | undefined, Fields>> {
  const path = `/v1/${list.charAt(0).toUpperCase()}${list.slice(1)}`
  const data = await fetchOptionalData(ctx, path, list)
  return new Map(toFieldsList(data[list]).map((entry) => [readId(entry, 'id'), entry]))
}
