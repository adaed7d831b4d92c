import type { Preferences, ProviderDefinition, Rom } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import { callProvider } from '../../core/loader/call-provider.ts'
import type { CallScope } from '../../core/loader/call-scope.ts'
import { listPredecessors } from '../../core/loader/provider-order.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import type { Breaker } from '../circuits/breaker.ts'
import { ProviderSkippedError } from '../circuits/check-circuit.ts'
import { checkMatch } from './check-match.ts'
import { createFailures } from './lookup-failures.ts'
import { type ExplainedStep, createLookupSteps } from './lookup-steps.ts'
import { type KnownId, type MatchExplanation, explainLookup, explainNoLookup, listKnownIds } from './match-explanation.ts'
import { type MatchUpdates, type ProviderMatch, type ProviderMatches, type LookupResult, isIdentified } from './matches.ts'
import { type ProviderQueue, createProviderQueue } from './provider-lookup.ts'
import { preferRegions } from './sdk-rom.ts'

/** One lookup of a ROM at one provider. */
export interface LookupRequest {
  provider: string
  /**
   * An id that is known beforehand: from a file-name tag, a person, or the stored one. Ids from other providers come
   * after it.
   */
  knownId: KnownId | null
  /** True if the provider may search when the known ids match nothing, or there are none. */
  searches: boolean
}

/** The scope that calls about ROMs of one library share. */
export type LibraryScope = Pick<CallScope, 'memo' | 'files'>

/** A ROM that is looked up. */
export interface RomForProviders {
  id: number
  /** Returns the ROM in the form for a provider. */
  toSdk: (definition: ProviderDefinition) => Rom
  requests: readonly LookupRequest[]
  shared: LibraryScope
}

interface LookupSubject { id: number, rom: Rom, preferences: Preferences, shared: LibraryScope }

/** A lookup at the time of its call, with the matches of other providers by then. */
interface ProviderCall {
  subject: LookupSubject
  request: LookupRequest
  found: ProviderMatches
  ids: readonly KnownId[]
  steps: LookupSteps
}

/** The steps of a lookup. */
type LookupSteps = ReturnType<typeof createLookupSteps>

/** The result of a lookup with its error, if it failed. */
interface LookupOutcome { result: LookupResult, problem?: string }

/**
 * Asks all providers about one ROM. Each provider has its own queue for all ROMs, so a slow provider does not delay
 * others. The lookups of a ROM run concurrently, except providers that wait for matches of others.
 *
 * @param prefersOwnRegions true if a ROM's own regions precede those of the preferences
 */
export function createRomLookup (
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>, selected: readonly string[],
  breakerOf: (key: string) => Breaker, scope: CallScope, log: Logger, prefersOwnRegions: boolean
) {
  const queues = new Map<string, ProviderQueue>()
  const failures = createFailures()
  const predecessors = listPredecessors([...providers.values()].map(({ definition }) => definition))
  for (const key of selected) {
    const provider = providers.get(key)
    if (provider === undefined) continue
    const breaker = breakerOf(key)
    // Many scans are started because a provider is back, or its key was renewed. Each scan therefore tries once a
    // provider that was down or refused the key, which costs one call.
    breaker.allowProbe()
    queues.set(key, createProviderQueue(provider, breaker, scope.signal))
  }

  const isSkippedByOrder = ({ order: { when = 'always' } = {} }: ProviderDefinition, matches: ProviderMatches) =>
    when !== 'always' && (when === 'identified') !== isIdentified(matches, providers)

  function preferencesFor ({ region_codes: romRegions }: Rom) {
    return prefersOwnRegions ? preferRegions(romRegions, scope.preferences) : scope.preferences
  }

  async function call (
    { provider }: ProviderQueue, { subject, request, found, ids, steps }: ProviderCall
  ): Promise<ProviderMatch | null> {
    const { rom, preferences, shared } = subject
    const logStep = (step: ExplainedStep | null) => {
      log.debug({ rom_id: subject.id, provider: provider.key, step }, 'lookup step')
    }
    const explain = (step: unknown) => { logStep(steps.addChecked(step)) }
    const ownScope = { ...scope, ...shared, preferences, found, heedsLimits: true, explain }
    const match = await callProvider(provider, ownScope, async (definition, ctx) => {
      for (const knownId of ids) {
        logStep(steps.add({ by: 'id', ...knownId }))
        const game = await definition.getById?.(knownId.id, rom, ctx)
        if (game !== undefined) return game
      }
      return request.searches ? await definition.identify?.(rom, ctx) : undefined
    })
    return match === undefined ? null : checkMatch(match, provider)
  }

  async function callInQueue (queue: ProviderQueue, lookup: ProviderCall): Promise<LookupOutcome> {
    const { provider: { key } } = queue
    try {
      const match = await queue.run(() => call(queue, lookup))
      return { result: match === null ? { kind: 'miss' } : { kind: 'match', match } }
    } catch (err) {
      scope.signal.throwIfAborted()
      failures.add(key, err)
      const isSkipped = err instanceof ProviderSkippedError
      if (!isSkipped) log.warn({ err, provider: key, rom: lookup.subject.rom.fs_name }, 'provider failed')
      return { result: { kind: 'failed' }, problem: isSkipped ? err.describe() : err instanceof Error ? err.message : String(err) }
    }
  }

  async function lookUpAtProvider (
    queue: ProviderQueue, subject: LookupSubject, request: LookupRequest, found: ProviderMatches
  ): Promise<{ result: LookupResult, explanation: MatchExplanation }> {
    const { key, definition } = queue.provider
    const { rom } = subject
    const explained = { name: rom.fs_name_no_tags, platform: rom.platform.slug, at: new Date() }
    if (isSkippedByOrder(definition, found)) {
      const result = { kind: 'passed' } as const
      return { result, explanation: explainLookup(explained, result, []) }
    }
    const ids = definition.getById === undefined ? [] : listKnownIds(key, request.knownId, found)
    if (ids.length === 0 && !(request.searches && definition.identify !== undefined)) {
      return { result: { kind: 'miss' }, explanation: explainNoLookup(explained) }
    }
    const steps = createLookupSteps()
    const { result, problem } = await callInQueue(queue, { subject, request, found, ids, steps })
    return { result, explanation: explainLookup({ ...explained, at: new Date() }, result, steps.list(), problem) }
  }

  return {
    /** The keys of the providers that can be asked. */
    keys: [...queues.keys()],

    /** Returns the failures of providers so far, in words. */
    complaints: failures.describe,

    /**
     * Looks up a ROM. Each lookup starts when the lookups that it waits for have finished.
     *
     * @returns the explanation of each lookup, by provider
     */
    async lookUp (
      { id, toSdk, requests, shared }: RomForProviders, updates: MatchUpdates
    ): Promise<Map<string, MatchExplanation>> {
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
        const { definition } = queue.provider
        const rom = toSdk(definition)
        preferences ??= preferencesFor(rom)
        const subject = { id, rom, preferences, shared }
        const { result, explanation } = await lookUpAtProvider(queue, subject, request, updates.matchesBefore(earlier))
        const { method, reason } = explanation
        log.debug({ rom_id: id, provider: key, result: result.kind, method, reason }, 'lookup finished')
        explanations.set(key, explanation)
        updates.recordResult(key, result)
      }

      await Promise.all(requests.map(run))
      return explanations
    }
  }
}
export type RomLookup = ReturnType<typeof createRomLookup>
