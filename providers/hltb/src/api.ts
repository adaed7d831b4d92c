import { HttpStatusError, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, parseJson, readFields, toFieldsList } from '@svc/plugin-sdk/readers'
import SEARCH from '../data/search.json' with { type: 'json' }
import type { HltbContext } from './config.ts'
import { SITE_URL, type Search, getToken, moveSearch, openSearch } from './session.ts'

const TIMEOUT_MS = 60_000
const TRIES = 3
/** Long, because times hardly change and the site should get few requests. */
const CACHE_MS = 30 * 86_400_000
const PAGE_DATA = /<script\b[^>]*\bid="__NEXT_DATA__"[^>]*>/

/**
 * Searches the site for a term, on a platform by its name there, or on any platform if the name is empty. Renews a
 * refused token, and looks up the URL of the search again after a 404.
 */
export async function searchGames (term: string, platform: string, ctx: HltbContext): Promise<Fields[]> {
  const key = `search ${JSON.stringify([term, platform])}`
  const cached = toFieldsList(await ctx.cache.get(key))
  if (cached.length > 0 || term === '') return cached
  const search = await openSearch(ctx)
  for (let attempts = 0; attempts < TRIES; attempts++) {
    const { word, refusals } = search
    try {
      const games = await postSearch({ word, refusals }, toBody(term, platform), ctx)
      // Several concurrent refusals count as one, because the first one already renews the token.
      if (games === undefined) search.refusals = refusals + 1
      else if (games.length > 0) await ctx.cache.set(key, games, CACHE_MS)
      if (games !== undefined) return games
    } catch (err) {
      if (!(err instanceof HttpStatusError) || err.status !== 404) throw err
      await moveSearch(search, word, ctx)
    }
  }
  throw new ServiceDownError('HowLongToBeat refused every token of a search; it may have blocked the address of this server')
}

/** Returns the games that a search finds; undefined when its token was refused. */
async function postSearch (search: Search, body: object, ctx: HltbContext): Promise<Fields[] | undefined> {
  const token = await getToken(search, ctx)
  const response = await ctx.http.request(`${SITE_URL}/api/${search.word}`, {
    method: 'POST',
    headers: { referer: SITE_URL, ...token },
    json: { ...body, [token['x-hp-key']]: token['x-hp-val'] },
    accept: [403], timeoutMs: TIMEOUT_MS, retry: true
  })
  const answer = response.status === 403 ? undefined : response.json()
  if (answer === undefined) return undefined
  if (isFields(answer) && Array.isArray(answer.data)) return toFieldsList(answer.data)
  throw new ServiceDownError('HowLongToBeat answered a search without a list of games; its search may have changed')
}

/** Builds the body that the site's own page sends; only these parts of it vary. */
function toBody (term: string, platform: string): object {
  const { searchOptions } = SEARCH
  return { ...SEARCH, searchTerms: term.split(/\s+/), searchOptions: { ...searchOptions, games: { ...searchOptions.games, platform } } }
}

/** Returns the game of a page, or undefined when the page does not exist. */
export async function readGame (id: number, ctx: HltbContext): Promise<Fields | undefined> {
  const response = await ctx.http.request(`${SITE_URL}/game/${id}`, {
    headers: { referer: SITE_URL }, accept: [404], timeoutMs: TIMEOUT_MS, cacheMs: CACHE_MS
  })
  if (response.status === 404) return undefined
  const [, rest = ''] = response.text().split(PAGE_DATA, 2)
  const page: Fields = { page: parseJson(rest.slice(0, rest.indexOf('</script>'))) }
  const { game } = ['page', 'props', 'pageProps', 'game', 'data'].reduce((fields, name) => readFields(fields, name) ?? {}, page)
  if (Array.isArray(game)) return toFieldsList(game)[0]
  throw new ServiceDownError(`The page of the game ${id} at HowLongToBeat contains no game; its pages may have changed`)
}
