import {
  type Fields, HttpStatusError, type HttpResponse, ServiceDownError, isFields, readFields, toFieldsList
} from '@svc/plugin-sdk'
import type { HltbContext } from './config.ts'
import { SITE_URL, type Token, findWord, getToken, getWord } from './session.ts'

const TIMEOUT_MS = 60_000
const TRIES = 3
const RESULTS = 20
/** Times hardly change, and the site is nobody's to burden. */
const KEEP_MS = 30 * 86_400_000
const PAGE_DATA = /<script\b[^>]*\bid="__NEXT_DATA__"[^>]*>/

/** The games that the site finds for a term, on a platform by its name there or, with an empty one, on any. */
export async function searchGames (term: string, platform: string, ctx: HltbContext): Promise<Fields[]> {
  const key = `search ${JSON.stringify([term, platform])}`
  const kept = toFieldsList(await ctx.cache.get(key))
  if (kept.length > 0) return kept
  const games = await requestGames(term, platform, ctx)
  if (games.length > 0) await ctx.cache.set(key, games, KEEP_MS)
  return games
}

/** The token is renewed when it is refused, and the address looked up again when there is nothing at it. */
async function requestGames (term: string, platform: string, ctx: HltbContext): Promise<Fields[]> {
  let refused: Token | undefined
  for (let tries = 0; tries < TRIES; tries++) {
    const word = await getWord(ctx)
    try {
      const token = await getToken(ctx, refused)
      const response = await postSearch(word, token, toBody(term, platform, token), ctx)
      if (response.status !== 403) return readGames(response)
      refused = token
    } catch (err) {
      if (!(err instanceof HttpStatusError) || err.status !== 404) throw err
      await findWord(word, ctx)
    }
  }
  throw new ServiceDownError('HowLongToBeat refused every token of a search; it may have shut this server\'s address out')
}

async function postSearch (word: string, token: Token, body: object, ctx: HltbContext): Promise<HttpResponse> {
  return await ctx.http.request(`${SITE_URL}/api/${word}`, {
    method: 'POST',
    headers: { referer: SITE_URL, 'x-auth-token': token.value, 'x-hp-key': token.key, 'x-hp-val': token.keyValue },
    json: body,
    accept: [403],
    timeoutMs: TIMEOUT_MS,
    retry: true
  })
}

function readGames (response: HttpResponse): Fields[] {
  const answer = response.json()
  if (isFields(answer) && Array.isArray(answer.data)) return toFieldsList(answer.data)
  throw new ServiceDownError('HowLongToBeat answered a search without a list of games; its search may have changed')
}

function toBody (term: string, platform: string, token: Token): object {
  const gameplay = { perspective: '', flow: '', genre: '', difficulty: '' }
  const order = { sortCategory: 'popular', rangeCategory: 'main', rangeTime: { min: null, max: null } }
  const games = { userId: 0, platform, ...order, gameplay, rangeYear: { min: '', max: '' }, modifier: '' }
  const others = { users: { sortCategory: 'postcount' }, lists: { sortCategory: 'follows' }, filter: '', sort: 0, randomizer: 0 }
  return {
    searchType: 'games', searchTerms: term.split(/\s+/), searchPage: 1, size: RESULTS, searchOptions: { games, ...others },
    useCache: true, [token.key]: token.keyValue
  }
}

/** The game of a page, or undefined when there is none. */
export async function readGame (id: number, ctx: HltbContext): Promise<Fields | undefined> {
  const response = await ctx.http.request(`${SITE_URL}/game/${id}`, {
    headers: { referer: SITE_URL }, accept: [404], timeoutMs: TIMEOUT_MS, cacheMs: KEEP_MS
  })
  if (response.status === 404) return undefined
  let fields: Fields = parsePage(response.text())
  for (const name of ['props', 'pageProps', 'game', 'data']) fields = readFields(fields, name) ?? {}
  if (Array.isArray(fields.game)) return toFieldsList(fields.game)[0]
  throw new ServiceDownError(`The page of the game ${id} at HowLongToBeat holds no game; its pages may have changed`)
}

function parsePage (html: string): Fields {
  const [, rest = ''] = html.split(PAGE_DATA, 2)
  try {
    const data: unknown = JSON.parse(rest.slice(0, rest.indexOf('</script>')))
    return isFields(data) ? data : {}
  } catch {
    return {}
  }
}
