import { CredentialsRefusedError, type Match, MatchSchema, type ProviderDefinition, type ProviderId, RateLimitedError,
  type Rom } from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import type { Logger } from 'pino'
import PQueue from 'p-queue'
import type { CallScope } from '../../core/plugin-context.ts'
import type { Loaded } from '../../core/registry.ts'

/** A provider, its line of waiting calls, and whether it can be asked at all for the rest of this scan. */
interface Lane { provider: Loaded<ProviderDefinition>, queue: PQueue, refused: string | null, failuresInARow: number }

/** How a ROM is looked up at one provider. */
export interface Lookup {
  provider: string
  /** An id that is known beforehand: a file-name tag, or the stored one. */
  knownId: ProviderId | null
  /** Whether the provider may search when the known id leads nowhere, or there is none. */
  searches: boolean
}

export interface Identification {
  /** Matches by provider key. */
  matches: Map<string, Match>
  /** Providers that surely do not know the ROM, as opposed to those that failed. */
  misses: Set<string>
  failures: number
}

const DEFAULT_CONCURRENCY = 4
const DEFAULT_TIMEOUT_MS = 60_000
/** A provider that asks for a longer pause is left alone for the rest of the scan. */
const LONGEST_PAUSE_MS = 15 * 60_000
/** A provider that failed this often without an answer in between is down. */
const FAILURES_IN_A_ROW_MAX = 8

function createLane (provider: Loaded<ProviderDefinition>): Lane {
  const { concurrency = DEFAULT_CONCURRENCY } = provider.definition.limits ?? {}
  return { provider, queue: new PQueue({ concurrency }), refused: null, failuresInARow: 0 }
}

/** Text PostgreSQL cannot hold, from wherever it came. */
function dropNulls<T> (value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '')) as T
}

function checkMatch (match: Match, key: string): Match {
  if (!Value.Check(MatchSchema, match)) {
    const [problem] = [...Value.Errors(MatchSchema, match)]
    throw new Error(`Provider '${key}' returned a match whose ${problem?.path.slice(1) || 'shape'} is wrong: ${problem?.message}`)
  }
  return dropNulls(match)
}

/**
 * Asks providers about ROMs. Each provider has its own queue, so that a slow one delays nobody else; all providers of
 * a ROM are in flight together, except those that wait for ids another one may bring.
 */
export function createIdentifier (
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>, selected: readonly string[], scope: CallScope, log: Logger
) {
  const lanes = new Map<string, Lane>()
  for (const key of selected) {
    const provider = providers.get(key)
    if (provider !== undefined) lanes.set(key, createLane(provider))
  }

  /** Slows a provider down, or drops it, after what it answered. */
  function react (lane: Lane, err: unknown): void {
    if (err instanceof CredentialsRefusedError) lane.refused = err.message
    if (++lane.failuresInARow >= FAILURES_IN_A_ROW_MAX) {
      lane.refused ??= `it failed ${lane.failuresInARow} times in a row, at last with: ${(err as Error).message}`
    }
    if (!(err instanceof RateLimitedError) || lane.queue.isPaused) return
    const pause = err.retryAfterMs ?? 5_000
    if (pause > LONGEST_PAUSE_MS) {
      lane.refused = `it asks for a pause of ${Math.round(pause / 1000)} s`
      return
    }
    lane.queue.pause()
    setTimeout(() => { lane.queue.start() }, pause).unref()
  }

  async function call (lane: Lane, rom: Rom, lookup: Lookup, hint: ProviderId | null): Promise<Match | null> {
    const { definition, context, key } = lane.provider
    const timeout = AbortSignal.timeout(definition.limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    const signal = AbortSignal.any([scope.signal, timeout])
    const ctx = context({ ...scope, signal }) as never
    const id = hint ?? lookup.knownId
    const work = async () => {
      const known = id === null || definition.getById === undefined ? null : await definition.getById(id, rom, ctx)
      return known ?? (lookup.searches ? await definition.identify(rom, ctx) : null)
    }
    const match = await untilAborted(work(), signal)
    return match === null || match === undefined ? null : checkMatch(match, key)
  }

  async function ask (lane: Lane, rom: Rom, lookup: Lookup, found: Identification, hint: ProviderId | null): Promise<void> {
    if (lane.refused !== null) return
    const { key } = lane.provider
    try {
      const match = await lane.queue.add(() => lane.refused === null ? call(lane, rom, lookup, hint) : undefined,
        { signal: scope.signal })
      if (match === undefined) return
      lane.failuresInARow = 0
      if (match === null) found.misses.add(key)
      else found.matches.set(key, match)
    } catch (err) {
      scope.signal.throwIfAborted()
      react(lane, err)
      found.failures++
      log.warn({ err, provider: key, rom: rom.fs_name }, 'provider failed')
    }
  }

  /**
   * The providers whose matches may bring an id for this one and that are asked about this ROM as well. One that
   * brings ids itself waits for nobody, so that no two can wait for each other.
   */
  function linkersOf (key: string, keys: ReadonlySet<string>): string[] {
    if ((lanes.get(key)?.provider.definition.links ?? []).length > 0) return []
    return [...lanes.values()].map(({ provider }) => provider)
      .filter((provider) => keys.has(provider.key) && provider.definition.links?.includes(key) === true)
      .map((provider) => provider.key)
  }

  return {
    /** The keys that can be asked. */
    keys: [...lanes.keys()],

    /** Why a provider stopped being asked, by key. */
    refusals: () => new Map([...lanes].flatMap(([key, { refused }]) => refused === null ? [] : [[key, refused] as const])),

    async identify (toRom: (lane: ProviderDefinition) => Rom, lookups: readonly Lookup[]): Promise<Identification> {
      const found: Identification = { matches: new Map(), misses: new Set(), failures: 0 }
      const asked = new Set(lookups.map((lookup) => lookup.provider))
      const runs = new Map<string, Promise<void>>()

      function run (lookup: Lookup): Promise<void> {
        const key = lookup.provider
        const known = runs.get(key)
        if (known !== undefined) return known
        const lane = lanes.get(key)
        const started = lane === undefined ? Promise.resolve() : start(lane, lookup)
        runs.set(key, started)
        return started
      }

      async function start (lane: Lane, lookup: Lookup): Promise<void> {
        const linkers = linkersOf(lookup.provider, asked)
        await Promise.all(lookups.filter((other) => linkers.includes(other.provider)).map(run))
        const hints = linkers.map((linker) => found.matches.get(linker)?.ids?.[lookup.provider])
        await ask(lane, toRom(lane.provider.definition), lookup, found, hints.find((hint) => hint !== undefined) ?? null)
      }

      await Promise.all(lookups.map(run))
      return found
    }
  }
}

/** A plugin that ignores its signal must not hold the scan: its answer is no longer waited for. */
async function untilAborted<T> (work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => { reject(signal.reason as Error) }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
