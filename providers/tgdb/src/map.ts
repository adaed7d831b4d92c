import {
  type GameFields, type Match, type Media, isFields, minimumAge, readDate, readHtml, readInteger, readText, readTexts,
  unique
} from '@svc/plugin-sdk'
import { ask } from './api.ts'
import type { TgdbContext } from './config.ts'
import type { Game } from './games.ts'

const NAME_LENGTH = 350
const VIDEO_ID = /(?:^|[=/])([\w-]{11})(?:$|[?&])/

export async function toMatch (
  game: Game, media: Media[], ctx: TgdbContext, score?: number
): Promise<Match<never, number>> {
  const genres = await readNamesOf(game, 'genres', ctx)
  const developers = await readNamesOf(game, 'developers', ctx)
  const publishers = await readNamesOf(game, 'publishers', ctx)
  const players = readInteger(game, 'players') ?? 0
  return {
    id: game.id,
    score,
    name: readHtml(game, 'game_title')?.slice(0, NAME_LENGTH),
    summary: readHtml(game, 'overview'),
    alternative_names: readTexts(game, 'alternates'),
    genres,
    developers,
    publishers,
    companies: unique([...developers, ...publishers]),
    game_modes: readText(game, 'coop')?.toLowerCase() === 'yes' ? ['Co-operative'] : undefined,
    player_count: players > 0 ? players === 1 ? '1' : `1-${players}` : undefined,
    first_release_date: readDate(game, 'release_date')?.at,
    youtube_video_id: VIDEO_ID.exec(readText(game, 'youtube') ?? '')?.[1],
    ...readAgeRating(game),
    media
  }
}

/** `E - Everyone` is `E`; a text such as `Not Rated` is no rating. */
function readAgeRating (game: Game): Pick<GameFields, 'age_ratings' | 'min_age'> {
  const rating = readText(game, 'rating')?.split(' - ', 1)[0]?.trim() ?? ''
  return /^[A-Z\d+]{1,4}$/.test(rating) ? { age_ratings: [rating], min_age: minimumAge('ESRB', rating) } : {}
}

/** Games have ids of these only. The list of all is asked for when a game has any, which is once a month. */
async function readNamesOf (game: Game, list: string, ctx: TgdbContext): Promise<string[]> {
  const ids = Array.isArray(game[list]) ? game[list] : []
  if (ids.length === 0) return []
  const names = await ctx.memo(list, () => readList(list, ctx))
  return unique(ids.map((id: unknown) => names.get(String(id))))
}

async function readList (list: string, ctx: TgdbContext): Promise<ReadonlyMap<string, string | undefined>> {
  const { data } = await ask(ctx, `/v1/${list.charAt(0).toUpperCase()}${list.slice(1)}`, list)
  const entries = Object.entries(data[list] ?? {})
  return new Map(entries.map(([id, entry]) => [id, isFields(entry) ? readHtml(entry, 'name') : undefined]))
}
