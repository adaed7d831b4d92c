import {
  CredentialsRefusedError, type Fields, type HttpClient, HttpStatusError, RateLimitedError, ServiceDownError, isFields,
  readFields, readNumeric
} from '@svc/plugin-sdk'
import type { TgdbContext } from './config.ts'

const API_URL = 'https://api.thegamesdb.net'
const DAY_MS = 24 * 60 * 60 * 1000
/** Which of them a refusal is answered with differs between versions of the server. */
const REFUSALS = [401, 403, 418, 429, 499]
const SPENT = /allowance|limit|quota|exceed|exhaust/i

/**
 * What an endpoint answers in `data` and `include`. No request is spent on what was answered within a month. The rest
 * of an answer is forgotten: the addresses of further pages hold the API key.
 *
 * @param part what `data` must have
 * @throws CredentialsRefusedError · RateLimitedError when the allowance is spent · ServiceDownError
 */
export async function ask (
  ctx: TgdbContext, path: string, part: string, query: Readonly<Record<string, string | number>> = {}
): Promise<{ data: Fields, include: Fields }> {
  const key = JSON.stringify([path, query])
  const kept = await ctx.cache.get(key)
  const answer = isFields(kept) ? kept : await send(ctx, path, query)
  const data = readFields(answer, 'data') ?? {}
  const include = readFields(answer, 'include') ?? {}
  if (typeof data[part] !== 'object' || data[part] === null) {
    throw new ServiceDownError(`TheGamesDB answered ${path} without ${part}; try again later`)
  }
  if (answer !== kept) await ctx.cache.set(key, { data, include }, 30 * DAY_MS)
  return { data, include }
}

/** `data` of what belongs to a game, such as its pictures: one that was found counts without what fails. */
export async function askBesides (...[ctx, path, part, query]: Parameters<typeof ask>): Promise<Fields> {
  try {
    return (await ask(ctx, path, part, query)).data
  } catch (err) {
    ctx.signal.throwIfAborted()
    if (!(err instanceof ServiceDownError || err instanceof HttpStatusError)) throw err
    ctx.log.warn({ err, path }, 'a part of a game is not told, the game is taken without it')
    return {}
  }
}

/** Whether the key is good: what this asks for costs nothing of the allowance. */
export const checkHealth = async (ctx: TgdbContext): Promise<boolean> =>
  readNumeric(await send(ctx, '/v1/API/Limit', {}), 'remaining_monthly_allowance') !== undefined

async function send ({ config, http }: TgdbContext, path: string, query: object): Promise<Fields> {
  const response = await http.request(API_URL + path, { query: { apikey: config.apiKey, ...query }, accept: REFUSALS })
  if (response.status === 429) throw stopForToday(http)
  const answer = response.json()
  if (!isFields(answer)) throw new ServiceDownError(`TheGamesDB answered ${path} with no object; try again later`)
  const left = noteAllowance(answer, http)
  const { status = 'Success' } = answer
  const code = response.status === 200 ? readNumeric(answer, 'code') ?? 200 : response.status
  if (code === 200 && status === 'Success') return answer
  if (code === 429 || (code === 403 && (left === 0 || SPENT.test(String(status))))) throw stopForToday(http)
  if (!REFUSALS.includes(code)) throw new ServiceDownError(`TheGamesDB answered ${path} with code ${code}; try again later`)
  throw new CredentialsRefusedError(`TheGamesDB refused the API key with code ${code}; check TGDB_API_KEY`)
}

/** Passes on what an answer tells of the requests left, and gives their number. */
function noteAllowance (answer: Fields, http: HttpClient): number | undefined {
  const monthly = readNumeric(answer, 'remaining_monthly_allowance')
  // Private keys have no date on which theirs comes back.
  const refreshS = readNumeric(answer, 'allowance_refresh_timer') ?? 0
  if (monthly === undefined) return undefined
  const remaining = Math.max(0, monthly) + Math.max(0, readNumeric(answer, 'extra_allowance') ?? 0)
  if (refreshS > 0) http.setAllowance({ name: 'month', remaining, resetsAt: Date.now() + refreshS * 1000 })
  return remaining
}

/** Whoever goes on asking may have his address blocked for a day. */
function stopForToday (http: HttpClient): RateLimitedError {
  http.setAllowance({ name: 'day', remaining: 0, resetsAt: Date.now() + DAY_MS })
  return new RateLimitedError('The allowance of the API key at TheGamesDB is spent', DAY_MS)
}
