import { CredentialsRefusedError, type HttpResponse, HttpStatusError, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readId } from '@svc/plugin-sdk/readers'
import type { HasheousContext } from './config.ts'
import type { LookupItem } from './hashes.ts'

const LOOKUP_TIMEOUT_MS = 120_000
/** The server itself caches IGDB data for seven days. */
const PROXY_CACHE_MS = 7 * 24 * 60 * 60 * 1000

const EXPANDED_COLUMNS = [
  'age_ratings', 'alternative_names', 'collections', 'cover', 'dlcs', 'expanded_games', 'franchise', 'franchises',
  'game_modes', 'genres', 'involved_companies', 'platforms', 'ports', 'remakes', 'screenshots', 'similar_games', 'videos'
].join(', ')

/** A game as Hasheous describes it. Only its id is checked. */
export type Game = Fields & { readonly id: number }

/**
 * Looks up the game of these files; returns undefined when Hasheous knows none.
 *
 * @throws ServiceDownError when the response is unusable · CredentialsRefusedError when the application key is refused
 */
export async function lookUp (items: readonly LookupItem[], ctx: HasheousContext): Promise<Game | undefined> {
  const response = await ctx.http.request(toUrl(ctx, '/Lookup/ByHash'), {
    method: 'POST',
    query: { returnAllSources: true, returnFields: 'Signatures, Metadata, Attributes' },
    headers: toHeaders(ctx),
    json: items,
    accept: [401, 404],
    timeoutMs: LOOKUP_TIMEOUT_MS,
    retry: true
  })
  if (response.status === 401) {
    throw new CredentialsRefusedError('Hasheous refused the application key; check HASHEOUS_CLIENT_API_KEY')
  }
  const game = readAnswer(response)
  if (game === undefined || isGame(game)) return game
  throw new ServiceDownError('Hasheous answered a lookup without the id of the game; try again later')
}

/**
 * Returns a game's record at IGDB, or undefined when there is none or no application key is set. The record only
 * completes an existing match. A failure of the service is therefore logged here and only costs these fields.
 */
export async function readIgdbGame (id: number, ctx: HasheousContext): Promise<Fields | undefined> {
  if (!hasClientApiKey(ctx)) return undefined
  try {
    return readAnswer(await ctx.http.request(toUrl(ctx, '/MetadataProxy/IGDB/Game'), {
      query: { Id: id, expandColumns: EXPANDED_COLUMNS },
      headers: toHeaders(ctx),
      accept: [404],
      cacheMs: PROXY_CACHE_MS
    }))
  } catch (err) {
    if (!isServiceError(err)) throw err
    await warnOnce(err, ctx)
    return undefined
  }
}

/** Returns true if the server reports that it is healthy; throws the error of the request otherwise. */
export async function checkHealth (ctx: HasheousContext): Promise<boolean> {
  await ctx.http.request(toUrl(ctx, '/HealthCheck'), { headers: toHeaders(ctx) })
  return true
}

function readAnswer (response: HttpResponse): Fields | undefined {
  if (response.status === 404) return undefined
  const answer = response.json()
  if (!isFields(answer)) throw new ServiceDownError('Hasheous answered with JSON that is not an object; try again later')
  return answer
}

function isGame (fields: Fields): fields is Game {
  return typeof fields.id === 'number' && readId(fields, 'id') !== undefined
}

function toUrl ({ config }: HasheousContext, path: string): string {
  return config.baseUrl.replace(/\/+$/, '') + path
}

function toHeaders ({ config }: HasheousContext): Record<string, string> {
  const key = config.clientApiKey ?? ''
  return { accept: 'application/json', ...key !== '' && { 'x-client-api-key': key } }
}

function hasClientApiKey ({ config }: HasheousContext): boolean {
  return config.clientApiKey !== undefined && config.clientApiKey !== ''
}

/**
 * True for a failure of the service. A rate limit is excluded, because the host repeats the whole lookup after the
 * pause.
 */
function isServiceError (err: unknown): err is Error {
  return err instanceof HttpStatusError || err instanceof ServiceDownError
}

/** Logs a refused key or a broken proxy once, because the cause is the same for every ROM of a scan. */
async function warnOnce (err: Error, ctx: HasheousContext): Promise<void> {
  await ctx.memo(`warned of ${err.name}`, async () => {
    ctx.log.warn({ err }, 'no IGDB data from Hasheous; check HASHEOUS_CLIENT_API_KEY when the status is 401')
  })
}
