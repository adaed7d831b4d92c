import type { Match, ProviderDefinition, ProviderId, Rom } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import { limitTime } from '../../../core/loader/limit-time.ts'
import type { CallScope } from '../../../core/loader/context.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import type { Breaker } from '../../circuits/breaker.ts'
import { createFailures } from './failures.ts'
import { type Lane, LeftOutError, checkMatch, createLane } from './provider-queue.ts'

/** How a ROM is looked up at one provider. */
export interface Lookup {
  provider: string
  /** An id that is known beforehand: a file-name tag, the stored one, or one another provider's match brought. */
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

const DEFAULT_TIMEOUT_MS = 60_000

/**
 * Asks providers about ROMs. Each provider has its own queue, so that a slow one delays nobody else; all providers of
 * a ROM are in flight together, except those that wait for ids another one may bring.
 */
export function createIdentifier (
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>, selected: readonly string[],
  breakerOf: (key: string) => Breaker, scope: CallScope, log: Logger
) {
  const lanes = new Map<string, Lane>()
  const failures = createFailures()
  for (const key of selected) {
    const provider = providers.get(key)
    if (provider === undefined) continue
    const breaker = breakerOf(key)
    // A scan, of which many are started because the provider is back, tries one that was down without waiting for its
    // cool-down. That costs it one call.
    breaker.probeNow()
    lanes.set(key, createLane(provider, breaker, scope.signal))
  }

  async function call (lane: Lane, rom: Rom, lookup: Lookup, hint: ProviderId | null): Promise<Match | null> {
    const { definition, limits, context, key } = lane.provider
    const limitMs = limits.timeoutMs ?? DEFAULT_TIMEOUT_MS
    const match = await limitTime(`Provider '${key}' did not answer within`, limitMs, scope.signal, async (signal, hold) => {
      const ctx = context({ ...scope, signal, hold, heedsLimits: true }) as never
      const ids = new Set([lookup.knownId, hint])
      for (const id of ids) {
        const found = id === null ? undefined : await definition.getById?.(id, rom, ctx)
        if (found !== undefined) return found
      }
      return lookup.searches ? await definition.identify?.(rom, ctx) : undefined
    })
    return match === undefined ? null : checkMatch(match, lane.provider)
  }

  async function ask (
    lane: Lane, rom: Rom, lookup: Lookup, found: Identification, hint: ProviderId | null
  ): Promise<void> {
    const { key } = lane.provider
    try {
      const match = await lane.ask(() => call(lane, rom, lookup, hint))
      if (match === null) found.misses.add(key)
      else found.matches.set(key, match)
    } catch (err) {
      scope.signal.throwIfAborted()
      found.failures++
      failures.add(key, err)
      if (!(err instanceof LeftOutError)) log.warn({ err, provider: key, rom: rom.fs_name }, 'provider failed')
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

    /** What went wrong with providers so far, in words. */
    complaints: failures.describe,

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
        const hint = hints.find((id) => id !== undefined) ?? null
        await ask(lane, toRom(lane.provider.definition), lookup, found, hint)
      }

      await Promise.all(lookups.map(run))
      return found
    }
  }
}
