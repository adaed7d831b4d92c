import { type Fields, readNumeric } from '@svc/plugin-sdk/readers'
import type { SsContext } from './config.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The pause after refusals, which may be a mistake of the service. */
const REFUSAL_MS = 15 * MINUTE_MS
/** The number of refusals before a pause, because a single one may be a mistake of the service. */
const REFUSALS = 2
/** The remaining part of an allowance at which a warning is logged. */
const LOW = 0.1

/** Returns the time at which allowances reset: midnight, an hour ahead of UTC. */
const nextMidnight = (now: number) => Math.ceil((now + HOUR_MS + 1) / DAY_MS) * DAY_MS - HOUR_MS

/** The timeout of artwork allows for this many bits at the account's speed, within these bounds in milliseconds. */
const DOWNLOAD_BITS = 8 * 1024 * 1024 * 8
const DOWNLOAD_MS = { least: 120_000, most: 600_000 }
const SPEED_KEY = 'kilobits a second'

/**
 * Reports the account's limits from a response: concurrent requests, requests per minute and requests left today.
 * Zero requests left today count only in the response to a lookup.
 */
export async function reportAccountLimits (account: Fields, isLookup: boolean, ctx: SsContext): Promise<void> {
  const concurrency = readLimit(account, 'maxthreads')
  const requests = readLimit(account, 'maxrequestspermin')
  const rates = requests === undefined ? undefined : [{ requests, perMs: MINUTE_MS }]
  if (concurrency !== undefined || rates !== undefined) {
    ctx.http.setLimits({ ...concurrency !== undefined && { concurrency }, ...rates && { rates } })
  }
  const day = readAllowance(account, 'maxrequestsperday', 'requeststoday')
  if (day !== undefined && (isLookup || day.remaining > 0)) {
    ctx.http.setAllowance({ name: 'day', ...day, resetsAt: nextMidnight(Date.now()) })
  }
  await warnWhenLow('requests', day, ctx)
  // The service still finds games when this allowance is used up, so the allowance must not pause the provider.
  await warnWhenLow('unrecognised games', readAllowance(account, 'maxrequestskoperday', 'requestskotoday'), ctx)
}

/**
 * Records a refused lookup because the day's requests are used up. Returns the milliseconds to wait once that is
 * certain.
 */
export async function reportSpentAllowance (ctx: SsContext): Promise<number | undefined> {
  const refusals = await ctx.memo('refusals', async () => ({ count: 0 }))
  if (++refusals.count < REFUSALS) return undefined
  const now = Date.now()
  const resetsAt = Math.min(nextMidnight(now), now + REFUSAL_MS)
  ctx.http.setAllowance({ name: 'day', remaining: 0, resetsAt })
  return resetsAt - now
}

/** Stores the account's download speed, which only a response about the account contains. */
export async function storeSpeed (account: Fields, { cache }: SsContext): Promise<void> {
  const speed = readLimit(account, 'maxdownloadspeed')
  if (speed !== undefined) await cache.set(SPEED_KEY, speed)
}

/** Returns the timeout for one piece of artwork in milliseconds. */
export async function downloadTimeout ({ cache }: Pick<SsContext, 'cache'>): Promise<number> {
  const speed = await cache.get(SPEED_KEY)
  const timeoutMs = typeof speed === 'number' ? DOWNLOAD_BITS / speed : DOWNLOAD_MS.most
  return Math.round(Math.min(DOWNLOAD_MS.most, Math.max(DOWNLOAD_MS.least, timeoutMs)))
}

interface RemainingRequests { remaining: number, total: number }

function readAllowance (account: Fields, totalKey: string, usedKey: string): RemainingRequests | undefined {
  const total = readLimit(account, totalKey)
  const used = readNumeric(account, usedKey)
  return total === undefined || used === undefined || used < 0
    ? undefined
    : { total, remaining: Math.max(0, total - Math.trunc(used)) }
}

/** Reads an integer above 0; undefined otherwise. */
function readLimit (account: Fields, key: string): number | undefined {
  const limit = readNumeric(account, key)
  return limit === undefined || limit < 1 ? undefined : Math.trunc(limit)
}

async function warnWhenLow (
  allowance: string, remaining: RemainingRequests | undefined, ctx: SsContext
): Promise<void> {
  if (remaining === undefined || remaining.remaining > remaining.total * LOW) return
  await ctx.memo(`few ${allowance} left`, async () => {
    ctx.log.warn({ what: allowance, ...remaining }, 'a daily allowance is nearly used up')
  })
}
