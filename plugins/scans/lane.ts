import { setTimeout as sleep } from 'node:timers/promises'
import {
  CredentialsRefusedError, type Match, MatchSchema, type ProviderDefinition, RateLimitedError
} from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import PQueue from 'p-queue'
import type { Loaded } from '../../core/registry.ts'
import { toStorable } from './database-json.ts'

const DEFAULT_CONCURRENCY = 4
/** A provider that asks for a longer pause is left alone for the rest of the scan. */
const LONGEST_PAUSE_MS = 15 * 60_000
const DEFAULT_PAUSE_MS = 5_000
/** How often one lookup is tried again after a pause. */
const PAUSES_MAX = 3
/** A provider that failed this often without an answer in between is down. */
const FAILURES_IN_A_ROW_MAX = 8

/** One provider's line of waiting calls, and whether it can be asked at all for the rest of this scan. */
export interface Lane {
  provider: Loaded<ProviderDefinition>
  /** Why it is not asked any more; null while it is. */
  refused (): string | null
  /**
   * Calls the provider when its turn comes. Undefined when it is not asked any more.
   *
   * @throws what the call threw, and the signal's reason
   */
  ask (call: () => Promise<Match | null>): Promise<Match | null | undefined>
}

/** @throws Error saying what is wrong with a match; the copy returned can be stored. */
export function checkMatch (match: unknown, { key, definition }: Loaded<ProviderDefinition>): Match {
  if (!Value.Check(MatchSchema, match)) {
    const [problem] = [...Value.Errors(MatchSchema, match)]
    throw new Error(`Provider '${key}' returned a match whose ${problem?.path.slice(1) || 'shape'} is wrong: ` +
      (problem?.message ?? 'it is no object'))
  }
  const isRightId = definition.id === 'integer' ? Number.isSafeInteger(match.id) : typeof match.id === 'string'
  if (!isRightId) {
    throw new Error(`Provider '${key}' returned the id ${JSON.stringify(match.id)}, ` +
      `which is not the ${definition.id} it declares`)
  }
  if (Math.abs(match.first_release_date ?? 0) > 8.64e15) {
    throw new Error(`Provider '${key}' returned the date ${match.first_release_date}, which no calendar has`)
  }
  return toStorable(match) as Match
}

export function createLane (provider: Loaded<ProviderDefinition>, signal: AbortSignal): Lane {
  const { concurrency = DEFAULT_CONCURRENCY } = provider.definition.limits ?? {}
  const queue = new PQueue({ concurrency })
  let refused: string | null = null
  let failuresInARow = 0
  let pause: Promise<void> | null = null

  function pauseFor (ms: number): void {
    queue.pause()
    // Stopped meanwhile: whoever waits sees the signal.
    pause = sleep(ms, undefined, { signal }).catch(() => {}).finally(() => {
      pause = null
      queue.start()
    })
  }

  /** Slows the provider down, or drops it, after what it answered. */
  function react (err: unknown): void {
    if (err instanceof CredentialsRefusedError) {
      refused ??= err.message
    } else if (err instanceof RateLimitedError) {
      const ms = err.retryAfterMs ?? DEFAULT_PAUSE_MS
      if (ms > LONGEST_PAUSE_MS) refused ??= `it asks for a pause of ${Math.round(ms / 1_000)} s`
      else if (pause === null) pauseFor(ms)
    } else if (++failuresInARow >= FAILURES_IN_A_ROW_MAX) {
      const last = err instanceof Error ? err.message : String(err)
      refused ??= `it failed ${failuresInARow} times in a row, at last with: ${last}`
    }
  }

  /** Reacts before the next call starts. */
  async function run (call: () => Promise<Match | null>): Promise<Match | null | undefined> {
    if (refused !== null) return undefined
    try {
      const match = await call()
      failuresInARow = 0
      return match
    } catch (err) {
      if (!signal.aborted) react(err)
      throw err
    }
  }

  async function ask (call: () => Promise<Match | null>, pauses = 0): Promise<Match | null | undefined> {
    if (refused !== null) return undefined
    try {
      return await queue.add(() => run(call), { signal })
    } catch (err) {
      signal.throwIfAborted()
      if (pause === null || !(err instanceof RateLimitedError) || pauses >= PAUSES_MAX) throw err
      await pause
      return await ask(call, pauses + 1)
    }
  }

  return { provider, refused: () => refused, ask: (call) => ask(call) }
}
