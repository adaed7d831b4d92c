import type { ProviderId } from '@svc/plugin-sdk'
import { type Fields, readHtml, readId, readTexts, toFieldsList, toPlainText, unique } from '@svc/plugin-sdk/readers'
import { toQuery } from '@svc/plugin-sdk/titles'
import { fetchData } from './api.ts'
import type { TgdbContext } from './config.ts'

const FIELDS = 'players,publishers,genres,overview,rating,platform,coop,youtube,alternates'
/** A year or country, with which TheGamesDB distinguishes games of the same title. */
const TRAILING_PARENTHESIS = /\s*\([^()]*\)$/

/** A game as TheGamesDB describes it. Only its id and title are checked; the title is plain text. */
export type Game = Fields & { readonly id: number, readonly game_title: string }
/** Games with the data about their boxes. */
interface Answer { games: Game[], include: Fields }

/** Lists the games of these platforms with these words in a title. Sends no request without a word or a platform. */
export async function searchGames (title: string, platformIds: readonly ProviderId[], ctx: TgdbContext) {
  const name = toQuery(title)
  if (name === '' || platformIds.length === 0) return { games: [], include: {} }
  const query = { name, 'filter[platform]': platformIds.join(','), fields: FIELDS, include: 'boxart' }
  const { games, include } = await listGames(ctx, '/v1.1/Games/ByGameName', query)
  return { games: games.filter((game) => platformIds.includes(readId(game, 'platform') ?? 0)), include }
}

export const readGames = (id: number, ctx: TgdbContext): Promise<Answer> =>
  listGames(ctx, '/v1/Games/ByGameID', { id, fields: FIELDS, include: 'boxart' })

/** Lists the title of a game, then its alternative titles. */
export function listTitles (game: Game): string[] {
  return [game.game_title.replace(TRAILING_PARENTHESIS, ''), ...listAlternates(game)]
}

export const listAlternates = (game: Game): string[] =>
  unique(readTexts(game, 'alternates').map((title) => toPlainText(title) || undefined))

async function listGames (ctx: TgdbContext, path: string, query: Record<string, string | number>): Promise<Answer> {
  const { data, include } = await fetchData(ctx, path, 'games', query)
  return { games: toFieldsList(data.games).flatMap((game) => toGame(game) ?? []), include }
}

function toGame (fields: Fields): Game | undefined {
  const id = readId(fields, 'id')
  const title = readHtml(fields, 'game_title')
  return id === undefined || title === undefined ? undefined : { ...fields, id, game_title: title }
}
