import { type Fields, readNumeric } from '@svc/plugin-sdk'
import type { SsContext } from './config.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** A refusal may be a mistake of the service; it is put to the test again after this. */
const REFUSAL_MS = 15 * MINUTE_MS
/** A single refusal may be a slip of the service; the source is paused from this one on. */
const REFUSALS = 2
/** A warning is given when no more than this part of an allowance is left. */
const LOW = 0.1

/** Allowances come back at midnight, an hour ahead of UTC. */
const nextMidnight = (now: number) => Math.ceil((now + HOUR_MS + 1) / DAY_MS) * DAY_MS - HOUR_MS

/** Artwork is given the time for this many bytes at the account's speed, within these milliseconds. */
const DOWNLOAD_BITS = 8 * 1024 * 1024 * 8
const DOWNLOAD_MS = { least: 120_000, most: 600_000 }
const SPEED_KEY = 'kilobits a second'

/**
 * Passes on what an answer says of the account: how many requests at once, a minute, and still today. That none is
 * left today counts only when a lookup says so.
 */
export async function learnAccount (account: Fields, isLookup: boolean, ctx: SsContext): Promise<void> {
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
  // With none of these left games are still found, so they are no allowance that pauses the source.
  await warnWhenLow('unrecognised games', readAllowance(account, 'maxrequestskoperday', 'requestskotoday'), ctx)
}

/** A lookup was refused because the day's requests are used up. The milliseconds to wait, once that is sure. */
export async function noteSpent (ctx: SsContext): Promise<number | undefined> {
  const refusals = await ctx.memo('refusals', async () => ({ count: 0 }))
  if (++refusals.count < REFUSALS) return undefined
  const now = Date.now()
  const resetsAt = Math.min(nextMidnight(now), now + REFUSAL_MS)
  ctx.http.setAllowance({ name: 'day', remaining: 0, resetsAt })
  return resetsAt - now
}

/** Keeps how fast the account's artwork comes, which only an answer about the account says. */
export async function storeSpeed (account: Fields, { cache }: SsContext): Promise<void> {
  const speed = readLimit(account, 'maxdownloadspeed')
  if (speed !== undefined) await cache.set(SPEED_KEY, speed)
}

/** Milliseconds that one piece of artwork may take. */
export async function downloadTimeout ({ cache }: Pick<SsContext, 'cache'>): Promise<number> {
  const speed = await cache.get(SPEED_KEY)
  const wanted = typeof speed === 'number' ? DOWNLOAD_BITS / speed : DOWNLOAD_MS.most
  return Math.round(Math.min(DOWNLOAD_MS.most, Math.max(DOWNLOAD_MS.least, wanted)))
}

interface Left { remaining: number, total: number }

function readAllowance (account: Fields, totalKey: string, usedKey: string): Left | undefined {
  const total = readLimit(account, totalKey)
  const used = readNumeric(account, usedKey)
  return total === undefined || used === undefined || used < 0
    ? undefined
    : { total, remaining: Math.max(0, total - Math.trunc(used)) }
}

/** A whole number above 0; anything else says nothing. */
function readLimit (account: Fields, key: string): number | undefined {
  const limit = readNumeric(account, key)
  return limit === undefined || limit < 1 ? undefined : Math.trunc(limit)
}

async function warnWhenLow (what: string, left: Left | undefined, ctx: SsContext): Promise<void> {
  if (left === undefined || left.remaining > left.total * LOW) return
  await ctx.memo(`few ${what} left`, async () => {
    ctx.log.warn({ what, ...left }, 'little of a daily allowance is left')
  })
}
