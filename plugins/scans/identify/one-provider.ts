import { setTimeout as sleep } from 'node:timers/promises'
import {
  CredentialsRefusedError, type LinkMatch, type Match, MatchSchema, type Media, type ProviderDefinition,
  RateLimitedError
} from '@svc/plugin-sdk'
import type { Static } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import PQueue from 'p-queue'
import { nameCredentials } from '../../../core/loader/plugin-config.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import type { Breaker, Outcome, Refusal, Turn } from '../../circuits/breaker.ts'
import { toStorable } from '../../../core/database/json.ts'
import type { Found } from './findings.ts'

const DEFAULT_CONCURRENCY = 4
const DEFAULT_PAUSE_MS = 5_000
/** How often one lookup is tried again after a pause: a game that a provider never gets to must not hold the scan. */
const PAUSES_MAX = 20

const matches = TypeCompiler.Compile(MatchSchema)

type Provider = Loaded<ProviderDefinition>

/** The provider was not called, since its circuit is open or an allowance of it is spent. */
export class LeftOutError extends Error {
  override readonly name = 'LeftOutError'
  /** Milliseconds since 1970. */
  readonly retryAt: number | null

  constructor ({ reason, retryAt }: Pick<Refusal, 'reason' | 'retryAt'>) {
    super(reason)
    this.retryAt = retryAt
  }
}

/** One provider's line of waiting calls, of all ROMs. */
export interface ProviderQueue {
  provider: Provider
  /**
   * Calls the provider when its turn comes, and again after each pause it asks for.
   *
   * @throws LeftOutError at once while the circuit is open or an allowance is spent · what the call threw · the
   * signal's reason
   */
  ask (call: () => Promise<Found | null>): Promise<Found | null>
}

/** An address is stored and shown: what lets somebody in is added when it is fetched. */
function checkAddresses ({ media = [] }: Match, { key, trust }: Provider): void {
  const secrets = new Set(trust.secrets)
  const valuesOf = ({ url }: Media) => URL.canParse(url) ? [...new URL(url).searchParams.values()] : []
  if (media.flatMap(valuesOf).some((value) => secrets.has(value))) {
    throw new Error(`Provider '${key}' returned the address of a picture with a secret of its configuration in it; ` +
      'leave it out there, and add it in fetchMedia')
  }
}

/** @throws Error saying what is wrong with a match; the copy returned can be stored. */
export function checkMatch (match: unknown, provider: Provider): Found {
  const { key, definition } = provider
  if (!matches.Check(match)) {
    const [problem] = [...matches.Errors(match)]
    throw new Error(`Provider '${key}' returned a match whose ${problem?.path.slice(1) || 'shape'} is wrong: ` +
      (problem?.message ?? 'it is no object'))
  }
  if (definition.kind === 'ids') return toStorable(readLinks(match, key))
  const isRightId = definition.id === 'integer' ? Number.isSafeInteger(match.id) : typeof match.id === 'string'
  if (!isRightId) {
    throw new Error(`Provider '${key}' returned the id ${JSON.stringify(match.id)}, ` +
      `which is not the ${definition.id} it declares`)
  }
  if (Math.abs(match.first_release_date ?? 0) > 8.64e15) {
    throw new Error(`Provider '${key}' returned the date ${match.first_release_date}, which no calendar has`)
  }
  checkAddresses(match as Match, provider)
  return toStorable(match) as Found
}

/** Of a provider that gives ids of others, nothing else counts. */
function readLinks ({ id, ids, score }: Static<typeof MatchSchema>, key: string): LinkMatch {
  if (ids === undefined || id !== undefined) {
    throw new Error(`Provider '${key}' returned a match ${ids === undefined ? "without 'ids'" : "with an 'id' of its own"}, ` +
      "but is of the kind 'ids'")
  }
  return score === undefined ? { ids } : { ids, score }
}

/** What an error of a call says about its provider. */
function judge (err: unknown, { key, definition }: Provider): Outcome {
  const message = err instanceof Error ? err.message : String(err)
  if (err instanceof RateLimitedError) return { kind: 'paused', message, ms: err.retryAfterMs ?? DEFAULT_PAUSE_MS }
  if (!(err instanceof CredentialsRefusedError)) return { kind: 'failed', message }
  // A plugin is handed its settings once, when the server starts.
  const names = nameCredentials('provider', key, definition.config).join(' and ')
  const remedy = names === '' ? 'restart the server with the right ones' : `set ${names} and restart the server`
  return { kind: 'refused', message: `its credentials were refused: ${message}; ${remedy}` }
}

export function createProviderQueue (provider: Provider, breaker: Breaker, signal: AbortSignal): ProviderQueue {
  const { limits, learnt } = provider
  const readConcurrency = () => learnt.pace()?.concurrency ?? limits.concurrency ?? DEFAULT_CONCURRENCY
  const queue = new PQueue({ concurrency: readConcurrency() })

  /** @throws LeftOutError */
  function checkAllowances (): void {
    const spent = learnt.spent()
    if (spent !== null) throw new LeftOutError({ reason: `its allowance '${spent.name}' is spent`, retryAt: spent.resetsAt })
  }

  /** @throws LeftOutError */
  async function takeTurn (): Promise<Extract<Turn, { kind: 'call' }>> {
    for (;;) {
      checkAllowances()
      const turn = breaker.turn()
      if (turn.kind === 'call') return turn
      if (turn.kind === 'refusal') throw new LeftOutError(turn)
      const wait = sleep(turn.ms, undefined, { signal, ref: false })
      await (turn.sooner === null ? wait : Promise.race([wait, turn.sooner]))
    }
  }

  /** Keeps its place in the queue while the provider is paused, so that all of that provider's calls stand still. */
  async function run (call: () => Promise<Found | null>): Promise<Found | null> {
    for (let pauses = 0; ; pauses++) {
      const turn = await takeTurn()
      try {
        const match = await call()
        turn.end({ kind: 'answered' })
        return match
      } catch (err) {
        turn.end(signal.aborted ? { kind: 'cancelled' } : judge(err, provider))
        if (signal.aborted || !(err instanceof RateLimitedError) || pauses >= PAUSES_MAX) throw err
      }
    }
  }

  return {
    provider,
    async ask (call) {
      checkAllowances()
      const refusal = breaker.refusal()
      if (refusal !== null) throw new LeftOutError(refusal)
      queue.concurrency = readConcurrency()
      return await queue.add(() => run(call), { signal })
    }
  }
}
