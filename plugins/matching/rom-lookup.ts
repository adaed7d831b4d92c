import type { Preferences, ProviderDefinition, Rom } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { listPredecessors } from '../../core/loader/checks/provider-order.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import type { Breaker } from '../circuits/breaker.ts'
import { type LibraryScope, type LookupRequest, type LookupServices, lookUpAtProvider } from './look-up-at-provider.ts'
import { createFailures } from './lookup-failures.ts'
import type { MatchExplanation } from './match-explanation.ts'
import type { MatchUpdates } from './matches.ts'
import { type ProviderQueue, createProviderQueue } from './provider-lookup.ts'
import { preferRegions } from './sdk-rom.ts'

/** A ROM that is looked up. */
export interface RomForProviders {
  id: number
  /** Returns the ROM in the form for a provider. */
  toSdk: (definition: ProviderDefinition) => Rom
  requests: readonly LookupRequest[]
  shared: LibraryScope
}

interface RomLookupServices {
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>
  breakerOf: (key: string) => Breaker
  scope: CallScope
  log: Logger
  /** True if a ROM's own regions precede those of the preferences. */
  prefersOwnRegions: boolean
}

/** Opens the queues of the selected providers. */
function openQueues (
  { providers, breakerOf, scope }: RomLookupServices, selected: readonly string[]
): Map<string, ProviderQueue> {
  const queues = new Map<string, ProviderQueue>()
  for (const key of selected) {
    const provider = providers.get(key)
    if (provider === undefined) continue
    const breaker = breakerOf(key)
    // Many scans are started because a provider is back, or its key was renewed. Each scan therefore tries once a
    // provider that was down or refused the key, which costs one call.
    breaker.allowProbe()
    queues.set(key, createProviderQueue(provider, breaker, scope.signal))
  }
  return queues
}

interface RomLookupState extends LookupServices {
  queues: ReadonlyMap<string, ProviderQueue>
  /** The providers that each provider waits for. */
  predecessors: ReadonlyMap<string, ReadonlySet<string>>
  prefersOwnRegions: boolean
}

/** Looks up one ROM. Each lookup starts when the lookups that it waits for have finished. */
async function lookUp (
  state: RomLookupState, { id, toSdk, requests, shared }: RomForProviders, updates: MatchUpdates
): Promise<Map<string, MatchExplanation>> {
  const { queues, predecessors, prefersOwnRegions, scope, log } = state
  const explanations = new Map<string, MatchExplanation>()
  const requestsByProvider = new Map(requests.map((request) => [request.provider, request]))
  const runs = new Map<string, Promise<void>>()
  let preferences: Preferences | undefined

  function run (request: LookupRequest): Promise<void> {
    const key = request.provider
    const started = runs.get(key) ?? start(request)
    runs.set(key, started)
    return started
  }

  async function start (request: LookupRequest): Promise<void> {
    const { provider: key } = request
    const queue = queues.get(key)
    if (queue === undefined) return
    const earlier = predecessors.get(key) ?? new Set<string>()
    await Promise.all([...earlier].flatMap((before) => requestsByProvider.get(before) ?? []).map(run))
    const rom = toSdk(queue.provider.definition)
    preferences ??= prefersOwnRegions ? preferRegions(rom.region_codes, scope.preferences) : scope.preferences
    const subject = { id, rom, preferences, shared }
    const { result, explanation } =
      await lookUpAtProvider(queue, { subject, request, found: updates.matchesBefore(earlier) }, state)
    const { method, reason } = explanation
    log.debug({ rom_id: id, provider: key, result: result.kind, method, reason }, 'lookup finished')
    explanations.set(key, explanation)
    updates.recordResult(key, result)
  }

  await Promise.all(requests.map(run))
  return explanations
}

/**
 * Asks all providers about one ROM. Each provider has its own queue for all ROMs, so a slow provider does not delay
 * others. The lookups of a ROM run concurrently, except providers that wait for matches of others.
 */
export function createRomLookup (services: RomLookupServices, selected: readonly string[]) {
  const { providers } = services
  const failures = createFailures()
  const queues = openQueues(services, selected)
  const predecessors = listPredecessors([...providers.values()].map(({ definition }) => definition))
  const state: RomLookupState = { ...services, failures, queues, predecessors }
  return {
    /** The keys of the providers that can be asked. */
    keys: [...queues.keys()],

    /** Returns the failures of providers so far, in words. */
    complaints: failures.describe,

    /** Looks up a ROM. @returns the explanation of each lookup, by provider */
    lookUp: (rom: RomForProviders, updates: MatchUpdates): Promise<Map<string, MatchExplanation>> =>
      lookUp(state, rom, updates)
  }
}
export type RomLookup = ReturnType<typeof createRomLookup>
