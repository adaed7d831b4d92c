import type { ProviderId, Rom, SearchQuery } from '@svc/plugin-sdk'
import { readFields, readInteger } from '@svc/plugin-sdk/readers'
import { rankCandidates, toQuery } from '@svc/plugin-sdk/titles'
import { type Game, listGames, sendQuery } from './api.ts'
import type { IgdbContext } from './config.ts'
import { type Candidate, findGame, listTitles } from './match.ts'
import { idsQuery, nameQuery, searchQuery } from './query.ts'

/** Finds the game of a ROM by each possible title. A file with a short name or serial also has a title from a table. */
export async function findGameOfRom ({ titles, platform }: Rom, ctx: IgdbContext): Promise<Candidate | undefined> {
  for (const term of new Set(titles.map((title) => toQuery(title)))) {
    const found = await findByTerm(term, platform.ids, ctx)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Searches own releases first, which suffices for an unambiguous result. Otherwise searches everything on the
 * platform, by relevance and by contained text.
 */
async function findByTerm (
  term: string, platformIds: readonly ProviderId[], ctx: IgdbContext
): Promise<Candidate | undefined> {
  if (platformIds.length === 0 || term === '') return undefined
  const releases = await listGames(ctx, searchQuery(term, platformIds, true))
  const best = findGame(term, releases, ctx.explain)
  if (best?.isFinal === true) return best
  return findGame(term, mergeGames(releases, await searchWidely(ctx, term, platformIds)), ctx.explain)
}

/** Returns all games that a person's search words find, the most similar first. */
export async function searchGames ({ term, platform }: SearchQuery, ctx: IgdbContext): Promise<Candidate[]> {
  const { ids: platformIds } = platform
  const words = term.trim()
  if (platformIds.length === 0 || words === '') return []
  const ranked = rankCandidates(words, await searchWidely(ctx, words, platformIds), listTitles)
  return ranked.map(({ candidate: game, score }) => ({ game, score }))
}

async function searchWidely (ctx: IgdbContext, term: string, platformIds: readonly ProviderId[]): Promise<Game[]> {
  const [games, ids] = await Promise.all([
    listGames(ctx, searchQuery(term, platformIds, false)),
    listIdsByName(ctx, term, platformIds)
  ])
  const missing = ids.filter((id) => games.every((game) => game.id !== id))
  return missing.length === 0 ? games : mergeGames(games, await listGames(ctx, idsQuery(missing)))
}

async function listIdsByName (ctx: IgdbContext, term: string, platformIds: readonly ProviderId[]): Promise<number[]> {
  const body = nameQuery(term, platformIds)
  if (body === undefined) return []
  const found = await sendQuery(ctx, 'search', body)
  const ids = found.map((entry) => readFields(entry, 'game')).map((game) => game && readInteger(game, 'id'))
  return [...new Set(ids.filter((id) => id !== undefined))]
}

function mergeGames (first: readonly Game[], second: readonly Game[]): Game[] {
  return [...new Map([...first, ...second].map((game) => [game.id, game])).values()]
}
