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

/** What one provider is asked about a ROM. */
export interface Question {
  provider: string
  /** An id that is known beforehand: a file-name tag, or the stored one. Those of other providers come after it. */
  knownId: ProviderId | null
  /** Whether the provider may search when the known ids lead nowhere, or there are none. */
  searches: boolean
}

/** What the calls about ROMs of one library share. */
export type LibraryScope = Pick<CallScope, 'memo' | 'files'>

interface Subject { rom: Rom, preferences: Preferences, shared: LibraryScope }

/** A question as it is put when its turn comes: with what others found by then. */
interface Call { subject: Subject, question: Question, found: ProviderMatches, ids: readonly ProviderId[] }

const linkedIds = (founds: ProviderMatches, key: string): ProviderId[] =>
  [...founds.values()].flatMap(({ ids }) => ids?.[key] ?? [])

/**
 * Asks all providers about one ROM. Each provider has its own queue, which all ROMs share, so that a slow one delays
 * nobody else; the providers of a ROM are in flight together, except those that wait for what others find.
 *
 * @param prefersOwnRegions whether a ROM's own regions go before those of the preferences
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
    // Many scans are started because the provider is back, or its key was renewed. So each scan tries once a provider
    // that was down or refused the key, which costs one call.
    breaker.probeNow()
    queues.set(key, createProviderQueue(provider, breaker, scope.signal))
  }

  const isPassedOver = ({ when = 'always' }: ProviderDefinition, founds: ProviderMatches) =>
    when !== 'always' && (when === 'identified') !== isIdentified(founds, providers)

  function preferencesFor ({ region_codes: own }: Rom) {
    return prefersOwnRegions ? preferRegions(own, scope.preferences) : scope.preferences
  }

  async function call ({ provider }: ProviderQueue, { subject, question, found, ids }: Call): Promise<ProviderMatch | null> {
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

  async function ask (queue: ProviderQueue, subject: Subject, question: Question, found: ProviderMatches): Promise<LookupResult> {
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
    /** The keys that can be asked. */
    keys: [...queues.keys()],

    /** What went wrong with providers so far, in words. */
    complaints: failures.describe,

    /** Looks a ROM up: each question is put when those it waits for are answered. */
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
