import type { Preferences, ProviderDefinition, ProviderId, Rom } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import { callProvider } from '../../core/loader/call-provider.ts'
import type { CallScope } from '../../core/loader/call-scope.ts'
import { listPredecessors } from '../../core/loader/provider-order.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import type { Breaker } from '../circuits/breaker.ts'
import { ProviderSkippedError } from '../circuits/check-circuit.ts'
import { checkMatch } from './check-match.ts'
import { createFailures } from './lookup-failures.ts'
import { type MatchUpdates, type ProviderMatch, type ProviderMatches, type LookupResult, isIdentified } from './matches.ts'
import { type ProviderQueue, createProviderQueue } from './provider-lookup.ts'
import { preferRegions } from './sdk-rom.ts'

/** One lookup of a ROM at one provider. */
export interface Question {
  provider: string
  /**
   * An id that is known beforehand: from a file-name tag, or the stored one. Ids from other providers come after it.
   */
  knownId: ProviderId | null
  /** True if the provider may search when the known ids match nothing, or there are none. */
  searches: boolean
}

/** The scope that calls about ROMs of one library share. */
export type LibraryScope = Pick<CallScope, 'memo' | 'files'>

interface Subject { rom: Rom, preferences: Preferences, shared: LibraryScope }

/** A lookup at the time of its call, with the matches of other providers by then. */
interface Call { subject: Subject, question: Question, found: ProviderMatches, ids: readonly ProviderId[] }

const linkedIds = (founds: ProviderMatches, key: string): ProviderId[] =>
  [...founds.values()].flatMap(({ ids }) => ids?.[key] ?? [])

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
    breaker.probeNow()
    queues.set(key, createProviderQueue(provider, breaker, scope.signal))
  }

  const isPassedOver = ({ order: { when = 'always' } = {} }: ProviderDefinition, founds: ProviderMatches) =>
    when !== 'always' && (when === 'identified') !== isIdentified(founds, providers)

  function preferencesFor ({ region_codes: own }: Rom) {
    return prefersOwnRegions ? preferRegions(own, scope.preferences) : scope.preferences
  }

  async function call (
    { provider }: ProviderQueue, { subject, question, found, ids }: Call
  ): Promise<ProviderMatch | null> {
    const { rom, preferences, shared } = subject
    const ownScope = { ...scope, ...shared, preferences, found, heedsLimits: true }
    const match = await callProvider(provider, ownScope, async (definition, ctx) => {
      for (const id of ids) {
        const known = await definition.getById?.(id, rom, ctx)
        if (known !== undefined) return known
      }
      return question.searches ? await definition.identify?.(rom, ctx) : undefined
    })
    return match === undefined ? null : checkMatch(match, provider)
  }

  async function ask (
    queue: ProviderQueue, subject: Subject, question: Question, found: ProviderMatches
  ): Promise<LookupResult> {
    const { key, definition } = queue.provider
    if (isPassedOver(definition, found)) return { kind: 'passed' }
    const known = [question.knownId, ...linkedIds(found, key)].filter((id) => id !== null)
    const ids = definition.getById === undefined ? [] : [...new Set(known)]
    if (ids.length === 0 && !(question.searches && definition.identify !== undefined)) return { kind: 'miss' }
    try {
      const match = await queue.ask(() => call(queue, { subject, question, found, ids }))
      return match === null ? { kind: 'miss' } : { kind: 'match', match }
    } catch (err) {
      scope.signal.throwIfAborted()
      failures.add(key, err)
      if (!(err instanceof ProviderSkippedError)) log.warn({ err, provider: key, rom: subject.rom.fs_name }, 'provider failed')
      return { kind: 'failed' }
    }
  }

  return {
    /** The keys of the providers that can be asked. */
    keys: [...queues.keys()],

    /** Returns the failures of providers so far, in words. */
    complaints: failures.describe,

    /** Looks up a ROM. Each lookup starts when the lookups that it waits for have finished. */
    async lookUp (
      toRom: (definition: ProviderDefinition) => Rom, questions: readonly Question[], findings: MatchUpdates,
      shared: LibraryScope
    ): Promise<void> {
      const asked = new Map(questions.map((question) => [question.provider, question]))
      const runs = new Map<string, Promise<void>>()
      let preferences: Preferences | undefined

      function run (question: Question): Promise<void> {
        const key = question.provider
        const started = runs.get(key) ?? start(question)
        runs.set(key, started)
        return started
      }

      async function start (question: Question): Promise<void> {
        const { provider: key } = question
        const queue = queues.get(key)
        if (queue === undefined) return
        const earlier = predecessors.get(key) ?? new Set<string>()
        await Promise.all([...earlier].flatMap((before) => asked.get(before) ?? []).map(run))
        const { definition } = queue.provider
        const rom = toRom(definition)
        preferences ??= preferencesFor(rom)
        findings.say(key, await ask(queue, { rom, preferences, shared }, question, findings.before(earlier)))
      }

      await Promise.all(questions.map(run))
    }
  }
}
export type RomLookup = ReturnType<typeof createRomLookup>
