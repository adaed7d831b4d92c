import type { Match } from '@svc/plugin-sdk'
import { type Fields, readText, unique } from '@svc/plugin-sdk/readers'
import { findBestTitle, isContinuation, toQuery } from '@svc/plugin-sdk/titles'
import { type Game, getGame, listScanGrids, searchGames } from './api.ts'
import type { SgdbContext } from './config.ts'

const THRESHOLD = 0.98
/** Providers whose names serve as search terms, in this order. */
export const NAMING = ['igdb', 'hasheous', 'ss', 'moby', 'launchbox', 'gamelist']

/**
 * Finds the cover of the game that other providers matched: by its id at Steam, by their names, by the file's own
 * name.
 */
export async function findCover (fileTitle: string, ctx: SgdbContext): Promise<Match<never, number> | undefined> {
  const app = ctx.found.get('steam')
  if (app !== undefined && 'id' in app && typeof app.id === 'number') {
    const match = await toCover(await getGame(app.id, 'steam', ctx), ctx)
    if (match !== undefined) return match
  }
  for (const term of unique([...NAMING.map((key) => nameOf(key, ctx)), fileTitle].map(toTerm))) {
    const match = await findByTerm(term, ctx)
    if (match !== undefined) return match
  }
  return undefined
}

/** Finds the cover of the game with this name; undefined when no game has the name. */
export async function findByName (name: string, ctx: SgdbContext): Promise<Match<never, number> | undefined> {
  const term = toTerm(name)
  return term === undefined ? undefined : await findByTerm(term, ctx)
}

/** Chooses the best cover: in one of the operator's languages, else in English, else the first. */
export function chooseGrid (grids: readonly Fields[], languages: readonly string[]): string | undefined {
  const languageOrder = [...languages, 'en']
  const rank = (grid: Fields) => {
    const position = languageOrder.indexOf(readText(grid, 'language') ?? '')
    return position === -1 ? languageOrder.length : position
  }
  const [best] = grids.toSorted((a, b) => rank(a) - rank(b))
  return best && readText(best, 'url')
}

async function findByTerm (term: string, ctx: SgdbContext): Promise<Match<never, number> | undefined> {
  // The oldest entry of several games with one name counts.
  const games = (await searchGames(term, ctx)).filter(({ name }) => !isContinuation(term, name))
    .toSorted((a, b) => a.id - b.id)
  const best = findBestTitle(term, games.map(({ name }) => name), { threshold: THRESHOLD, explain: ctx.explain })
  return await toCover(best && games[best.index], ctx, best?.score)
}

async function toCover (
  game: Game | undefined, ctx: SgdbContext, score?: number
): Promise<Match<never, number> | undefined> {
  if (game === undefined) return undefined
  const url = chooseGrid(await listScanGrids(game.id, ctx), ctx.preferences.languages)
  return url === undefined ? undefined : { id: game.id, score, media: [{ kind: 'cover', url }] }
}

function nameOf (key: string, { found }: SgdbContext): string | undefined {
  const match = found.get(key)
  return match !== undefined && 'name' in match ? match.name : undefined
}

/** Returns the search term for a name; undefined for a name without a word. */
function toTerm (name = ''): string | undefined {
  return toQuery(name, { keepArticles: true }) || undefined
}
