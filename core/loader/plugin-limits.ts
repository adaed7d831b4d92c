import type { Allowance } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Db } from '../database/db.ts'
import { toDatabaseJson } from '../database/json.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import { createSemaphore } from '../concurrency/semaphore.ts'

/** The rate limits and allowances that a plugin's service reported. */
export interface ReportedLimits {
  /** Null if the service reported none: the declared limits apply. */
  rateLimit (): RateLimit | null
  /** Allowances that have not been reset yet. */
  allowances (): Allowance[]
  /** The spent allowance with the latest reset; null while none is spent. */
  findSpent (): Allowance | null
  setRateLimit (rateLimit: RateLimit): void
  /** @throws TypeError for an invalid allowance */
  setAllowance (allowance: Allowance): void
}

interface LimitState { rateLimit: RateLimit | null, allowances: Record<string, Allowance> }

/** An allowance changes with every response, so writes are delayed. A spent one is written at once. */
const WRITE_DELAY_MS = 1_000
/** More allowances than any service has. */
const ALLOWANCES_MAX = 32
/** The latest time that a Date can hold. */
const LATEST_MS = 8.64e15

const AllowanceSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 40 }),
  remaining: Type.Number({ minimum: 0 }),
  total: Type.Optional(Type.Number({ minimum: 0 })),
  resetsAt: Type.Number({ minimum: 0, maximum: LATEST_MS })
})

export const NO_LIMITS: LimitState = { rateLimit: null, allowances: {} }

/** @param onChange receives the state to store, and whether that is urgent */
export function createReportedLimits (
  stored: LimitState, onChange: (state: LimitState, isUrgent: boolean) => void = () => {}
): ReportedLimits {
  let { rateLimit } = stored
  const byName = new Map(Object.entries(stored.allowances))
  const current = () => [...byName.values()].filter(({ resetsAt }) => resetsAt > Date.now())
  const change = (isUrgent: boolean) => {
    onChange({ rateLimit, allowances: Object.fromEntries(current().map((one) => [one.name, one])) }, isUrgent)
  }

  return {
    rateLimit: () => rateLimit,
    allowances: current,
    // Called before each call; most services report no allowance.
    findSpent: () => byName.size === 0
      ? null
      : current().filter(({ remaining }) => remaining <= 0)
        .toSorted((a, b) => b.resetsAt - a.resetsAt)[0] ?? null,
    setRateLimit (reported) {
      if (JSON.stringify(reported) === JSON.stringify(rateLimit)) return
      rateLimit = reported
      change(true)
    },
    setAllowance (allowance) {
      const [problem] = [...Value.Errors(AllowanceSchema, allowance)]
      if (problem !== undefined) {
        throw new TypeError(`The allowance has the ${problem.path.slice(1)} ${JSON.stringify(problem.value)}: ` +
          `${problem.message.toLowerCase()}; resetsAt is in milliseconds since 1970`)
      }
      if (byName.size >= ALLOWANCES_MAX && !byName.has(allowance.name)) {
        throw new TypeError(`The allowance '${allowance.name}' is refused, because ${ALLOWANCES_MAX} allowances are stored already; use the same names each time`)
      }
      byName.set(allowance.name, allowance)
      change(allowance.remaining <= 0)
    }
  }
}

/** Stores learnt limits in the table `plugin_limits`, so that they apply after a restart. */
export async function createLimitsStore (db: Db, onError: (err: unknown) => void) {
  const { rows } = await db.query<{ plugin: string, limits: RateLimit | null, allowances: LimitState['allowances'] }>(
    'select plugin, limits, allowances from plugin_limits')
  const stored = new Map(rows.map(({ plugin, limits, allowances }) => [plugin, { rateLimit: limits, allowances }]))
  const waiting = new Map<string, LimitState>()
  let timer: NodeJS.Timeout | null = null
  const turns = createSemaphore(1)

  async function write (): Promise<void> {
    const states = [...waiting].map(
      ([plugin, { rateLimit, allowances }]) => ({ plugin, limits: rateLimit, allowances })
    )
    waiting.clear()
    if (states.length === 0) return
    await db.query(`insert into plugin_limits (plugin, limits, allowances)
      select plugin, limits, allowances from jsonb_to_recordset($1::jsonb) as l(plugin text, limits jsonb, allowances jsonb)
      on conflict (plugin) do update set limits = excluded.limits, allowances = excluded.allowances`,
    [toDatabaseJson(states)])
  }

  /** One write after the other, because an older state must never replace a newer one. */
  function flush (): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    return turns.run(write).catch(onError)
  }

  return {
    of: (plugin: string): ReportedLimits => createReportedLimits(stored.get(plugin) ?? NO_LIMITS,
      (state, isUrgent) => {
        waiting.set(plugin, state)
        if (isUrgent) void flush()
        else timer ??= setTimeout(() => { void flush() }, WRITE_DELAY_MS).unref()
      }),
    /** Writes everything that is not written yet. */
    flush
  }
}
