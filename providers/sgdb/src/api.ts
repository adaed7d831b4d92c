import { CredentialsRefusedError, type RequestOptions, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readId, readNumber, readText, readUrl, toFieldsList } from '@svc/plugin-sdk/readers'
import type { SgdbContext } from './config.ts'

// Calls without `www` are redirected to another host, which must not receive the key.
const API_URL = 'https://www.steamgriddb.com/api/v2'
const CACHE_MS = 24 * 3_600_000
/** The maximum size of a page. */
const PAGE_SIZE = 50
/** Maximum number of pages per game, because nobody looks through more covers. */
const PAGES_MAX = 10

export interface Game { readonly id: number, readonly name: string }

/** Lists at most ten games with names similar to the term. */
export async function searchGames (term: string, ctx: SgdbContext): Promise<Game[]> {
  const data = await get(`search/autocomplete/${encodeURIComponent(term.toWellFormed())}`, {}, ctx)
  return toFieldsList(data?.data).flatMap((fields) => toGame(fields) ?? [])
}

/** Returns a game by its own id, or by the id of a Steam app. */
export async function getGame (id: number, by: 'id' | 'steam', ctx: SgdbContext): Promise<Game | undefined> {
  const data = (await get(`games/${by}/${id}`, {}, ctx))?.data
  return isFields(data) ? toGame(data) : undefined
}

/** Lists the covers for a scan in the site's order: upright, still, suitable for all ages, and not removed. */
export async function listScanGrids (gameId: number, ctx: SgdbContext): Promise<Fields[]> {
  const { styles, dimensions } = ctx.config
  const { grids } = await getGrids(gameId, {
    types: 'static',
    nsfw: 'false',
    humor: 'false',
    epilepsy: 'false',
    dimensions: dimensions.join(',') || undefined,
    styles: styles.join(',') || undefined
  }, 0, ctx)
  return grids
}

/** Lists all covers of a game, including animated ones. */
export async function listAllGrids (gameId: number, ctx: SgdbContext): Promise<Fields[]> {
  const query = { types: 'static,animated', nsfw: 'any', humor: 'any', epilepsy: 'any' }
  const all: Fields[] = []
  for (let page = 0, count = 0; page < PAGES_MAX; page++) {
    const { grids, size, total } = await getGrids(gameId, query, page, ctx)
    all.push(...grids)
    count += size
    // The total is sometimes too high.
    if (size < PAGE_SIZE || count >= total) break
  }
  return all
}

async function getGrids (gameId: number, query: RequestOptions['query'], page: number, ctx: SgdbContext) {
  const answer = await get(`grids/game/${gameId}`, { ...query, limit: PAGE_SIZE, page }, ctx) ?? {}
  const entries = toFieldsList(answer.data)
  return {
    grids: entries.filter((grid) => grid.lock !== true && readUrl(grid, 'url') !== undefined),
    size: entries.length,
    total: readNumber(answer, 'total') ?? Infinity
  }
}

function toGame (fields: Fields): Game | undefined {
  const id = readId(fields, 'id')
  const name = readText(fields, 'name')
  return id === undefined || name === undefined ? undefined : { id, name }
}

/**
 * Requests a path of the site; undefined for status 404.
 *
 * @throws CredentialsRefusedError
 */
async function get (path: string, query: RequestOptions['query'], { config, http }: SgdbContext): Promise<Fields | undefined> {
  const response = await http.request(`${API_URL}/${path}`, {
    query, headers: { accept: 'application/json', authorization: `Bearer ${config.apiKey}` }, accept: [401, 404], cacheMs: CACHE_MS
  })
  if (response.status === 401) throw new CredentialsRefusedError('SteamGridDB does not accept the key; check STEAMGRIDDB_API_KEY')
  if (response.status === 404) return undefined
  const answer = response.json()
  if (isFields(answer) && answer.success === true) return answer
  throw new ServiceDownError('SteamGridDB answered with JSON that is not in its documented form; try again later')
}
