import {
  CredentialsRefusedError, type HttpClient, HttpStatusError, RateLimitedError, ServiceDownError
} from '@svc/plugin-sdk'
import { type Fields, isFields, readFields, readNumeric } from '@svc/plugin-sdk/readers'
import type { TgdbContext } from './config.ts'

const API_URL = 'https://api.thegamesdb.net'
const DAY_MS = 24 * 60 * 60 * 1000
/** Statuses of a refusal, which differ between versions of the server. */
const REFUSALS = [401, 403, 418, 429, 499]
const SPENT_TEXT = /allowance|limit|quota|exceed|exhaust/i

/**
 * Returns `data` and `include` of an endpoint's response, cached for 30 days to save requests. The rest of the
 * response is dropped, because the URLs of further pages hold the API key.
 *
 * @param part the required part of `data`
 * @throws CredentialsRefusedError · RateLimitedError when the allowance is spent · ServiceDownError
 */
export async function fetchData (
  ctx: TgdbContext, path: string, part: string, query: Readonly<Record<string, string | number>> = {}
): Promise<{ data: Fields, include: Fields }> {
  const key = JSON.stringify([path, query])
  const cached = await ctx.cache.get(key)
  const answer = isFields(cached) ? cached : await send(ctx, path, query)
  const data = readFields(answer, 'data') ?? {}
  const include = readFields(answer, 'include') ?? {}
  if (typeof data[part] !== 'object' || data[part] === null) {
    throw new ServiceDownError(`TheGamesDB answered ${path} without ${part}; try again later`)
  }
  if (answer !== cached) await ctx.cache.set(key, { data, include }, 30 * DAY_MS)
  return { data, include }
}

/**
 * Returns `data` about a part of a game, such as its pictures; empty after an error, because the game counts without
 * the part.
 */
export async function fetchOptionalData (...[ctx, path, part, query]: Parameters<typeof fetchData>): Promise<Fields> {
  try {
    return (await fetchData(ctx, path, part, query)).data
  } catch (err) {
    ctx.signal.throwIfAborted()
    if (!(err instanceof ServiceDownError || err instanceof HttpStatusError)) throw err
    ctx.log.warn({ err, path }, 'a part of a game could not be requested; the match is used without it')
    return {}
  }
}

/** Returns true if the key is valid; this request does not count towards the allowance. */
export const checkHealth = async (ctx: TgdbContext): Promise<boolean> =>
  readNumeric(await send(ctx, '/v1/API/Limit', {}), 'remaining_monthly_allowance') !== undefined

async function send ({ config, http }: TgdbContext, path: string, query: object): Promise<Fields> {
  const response = await http.request(API_URL + path, { query: { apikey: config.apiKey, ...query }, accept: REFUSALS })
  if (response.status === 429) throw stopForToday(http)
  const answer = response.json()
  if (!isFields(answer)) throw new ServiceDownError(`TheGamesDB answered ${path} with JSON that is not an object; try again later`)
  const remaining = reportAllowance(answer, http)
  const { status = 'Success' } = answer
  const code = response.status === 200 ? readNumeric(answer, 'code') ?? 200 : response.status
  if (code === 200 && status === 'Success') return answer
  if (code === 429 || (code === 403 && (remaining === 0 || SPENT_TEXT.test(String(status))))) throw stopForToday(http)
  if (!REFUSALS.includes(code)) throw new ServiceDownError(`TheGamesDB answered ${path} with code ${code}; try again later`)
  throw new CredentialsRefusedError(`TheGamesDB refused the API key with code ${code}; check TGDB_API_KEY`)
}

/** Reports the remaining requests from a response, and returns their number. */
function reportAllowance (answer: Fields, http: HttpClient): number | undefined {
  const monthly = readNumeric(answer, 'remaining_monthly_allowance')
  // Private keys have no reset date.
  const refreshS = readNumeric(answer, 'allowance_refresh_timer') ?? 0
  if (monthly === undefined) return undefined
  const remaining = Math.max(0, monthly) + Math.max(0, readNumeric(answer, 'extra_allowance') ?? 0)
  if (refreshS > 0) http.setAllowance({ name: 'month', remaining, resetsAt: Date.now() + refreshS * 1000 })
  return remaining
}

/** Pauses the provider for a day, because the service may block the server's address for further requests. */
function stopForToday (http: HttpClient): RateLimitedError {
  http.setAllowance({ name: 'day', remaining: 0, resetsAt: Date.now() + DAY_MS })
  return new RateLimitedError('The allowance of the API key at TheGamesDB is used up', DAY_MS)
}
