import type { Allowance } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Db } from '../database/db.ts'
import { toDatabaseJson } from '../database/json.ts'
import type { RateLimit } from '../http/rate-limit.ts'

/** The rate limits and allowances that a plugin's service reported. */
export interface LearntLimits {
  /** Null if the service reported none: the declared limits apply. */
  pace (): RateLimit | null
  /** Allowances that have not been reset yet. */
  allowances (): Allowance[]
  /** The spent allowance with the latest reset; null while none is spent. */
  spent (): Allowance | null
  learnPace (pace: RateLimit): void
  /** @throws TypeError for an invalid allowance */
  learnAllowance (allowance: Allowance): void
}

interface Learnt { pace: RateLimit | null, allowances: Record<string, Allowance> }

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

export const NOTHING_LEARNT: Learnt = { pace: null, allowances: {} }

/** @param onChange receives the state to store, and whether that is urgent */
export function createLearntLimits (
  known: Learnt, onChange: (learnt: Learnt, isUrgent: boolean) => void = () => {}, now: () => number = Date.now
): LearntLimits {
  let { pace } = known
  const byName = new Map(Object.entries(known.allowances))
  const current = () => [...byName.values()].filter(({ resetsAt }) => resetsAt > now())
  const change = (isUrgent: boolean) => {
    onChange({ pace, allowances: Object.fromEntries(current().map((one) => [one.name, one])) }, isUrgent)
  }

  return {
    pace: () => pace,
    allowances: current,
    // Called before each call; most services report no allowance.
    spent: () => byName.size === 0
      ? null
      : current().filter(({ remaining }) => remaining <= 0)
        .toSorted((a, b) => b.resetsAt - a.resetsAt)[0] ?? null,
    learnPace (learnt) {
      if (JSON.stringify(learnt) === JSON.stringify(pace)) return
      pace = learnt
      change(true)
    },
    learnAllowance (allowance) {
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
  const { rows } = await db.query<{ plugin: string, limits: RateLimit | null, allowances: Learnt['allowances'] }>(
    'select plugin, limits, allowances from plugin_limits')
  const known = new Map(rows.map(({ plugin, limits, allowances }) => [plugin, { pace: limits, allowances }]))
  const waiting = new Map<string, Learnt>()
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> = Promise.resolve()

  async function write (): Promise<void> {
    const learnt = [...waiting].map(([plugin, { pace, allowances }]) => ({ plugin, limits: pace, allowances }))
    waiting.clear()
    if (learnt.length === 0) return
    await db.query(`insert into plugin_limits (plugin, limits, allowances)
      select plugin, limits, allowances from jsonb_to_recordset($1::jsonb) as l(plugin text, limits jsonb, allowances jsonb)
      on conflict (plugin) do update set limits = excluded.limits, allowances = excluded.allowances`,
    [toDatabaseJson(learnt)])
  }

  /** One write after the other, because an older state must never replace a newer one. */
  function flush (): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    writing = writing.then(write).catch(onError)
    return writing
  }

  return {
    of: (plugin: string): LearntLimits => createLearntLimits(known.get(plugin) ?? NOTHING_LEARNT,
      (learnt, isUrgent) => {
        waiting.set(plugin, learnt)
        if (isUrgent) void flush()
        else timer ??= setTimeout(() => { void flush() }, WRITE_DELAY_MS).unref()
      }),
    /** Writes everything that is not written yet. */
    flush
  }
}
