import { CredentialsRefusedError, type ProviderId, type RequestOptions, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import { API_HOST, type MobyContext } from './config.ts'
import { reportLimits } from './limits.ts'

const TIMEOUT_MS = 120_000
/** Saves requests, because variants of one game, such as those of two regions, are searched by the same words. */
const CACHE_MS = 24 * 60 * 60 * 1000

/** A game as MobyGames describes it. Only the fields named here are checked. */
export type Game = Fields & { readonly game_id: number, readonly title: string }

/**
 * Lists the games with these words in a title, or with this id, in the order of ids.
 *
 * @throws CredentialsRefusedError when the key is refused · ServiceDownError when the response is unusable
 */
export async function listGames (
  ctx: MobyContext, query: { title: string, platform: readonly ProviderId[] } | { id: number }
): Promise<Game[]> {
  const games = await listEntries(ctx, 'games', { ...query, format: 'normal' }, CACHE_MS)
  return games.flatMap((game) => toGame(game) ?? []).toSorted((a, b) => a.game_id - b.game_id)
}

/** Returns true if MobyGames lists anything at all. */
export async function checkHealth (ctx: MobyContext): Promise<boolean> {
  return (await listEntries(ctx, 'groups', { limit: 1 })).length > 0
}

async function listEntries (
  ctx: MobyContext, endpoint: 'games' | 'groups', query: RequestOptions['query'], cacheMs = 0
): Promise<Fields[]> {
  const requestPage = () => ctx.http.request(`https://${API_HOST}/v1/${endpoint}`, {
    query: { api_key: ctx.config.apiKey, ...query }, accept: [401], timeoutMs: TIMEOUT_MS, cacheMs
  })
  let response = await requestPage()
  // MobyGames occasionally refuses valid keys.
  if (response.status === 401) response = await requestPage()
  if (response.status === 401) throw new CredentialsRefusedError('MobyGames refused the API key; check MOBYGAMES_API_KEY')
  if (!response.isReused) reportLimits(response.headers, ctx.http)
  const answer = response.json()
  const entries = isFields(answer) ? answer[endpoint] : undefined
  if (Array.isArray(entries)) return toFieldsList(entries)
  throw new ServiceDownError(`MobyGames answered /${endpoint} without a list of ${endpoint}; try again later`)
}

function toGame (fields: Fields): Game | undefined {
  const id = readId(fields, 'game_id')
  const title = readText(fields, 'title')
  return id === undefined || title === undefined ? undefined : { ...fields, game_id: id, title }
}
