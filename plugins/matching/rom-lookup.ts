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
import { type KnownId, type MatchExplanation, explainLookup, explainNothingToAsk, listKnownIds } from './match-explanation.ts'
import { type MatchUpdates, type ProviderMatch, type ProviderMatches, type LookupResult, isIdentified } from './matches.ts'
import { type ProviderQueue, createProviderQueue } from './provider-lookup.ts'
import { preferRegions } from './sdk-rom.ts'

/** One lookup of a ROM at one provider. */
export interface Question {
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
  questions: readonly Question[]
  shared: LibraryScope
}

interface Subject { id: number, rom: Rom, preferences: Preferences, shared: LibraryScope }

/** A lookup at the time of its call, with the matches of other providers by then. */
interface Call {
  subject: Subject
  question: Question
  found: ProviderMatches
  ids: readonly KnownId[]
  steps: LookupSteps
}

/** The steps of a lookup. */
type LookupSteps = ReturnType<typeof createLookupSteps>

/** The result of a lookup with its error, if it failed. */
interface Lookup { result: LookupResult, problem?: string }

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
    { provider }: ProviderQueue, { subject, question, found, ids, steps }: Call
  ): Promise<ProviderMatch | null> {
    const { rom, preferences, shared } = subject
    const logStep = (step: ExplainedStep | null) => {
      log.debug({ rom_id: subject.id, provider: provider.key, step }, 'lookup step')
    }
    const explain = (step: unknown) => { logStep(steps.addChecked(step)) }
    const ownScope = { ...scope, ...shared, preferences, found, heedsLimits: true, explain }
    const match = await callProvider(provider, ownScope, async (definition, ctx) => {
      for (const known of ids) {
        logStep(steps.add({ by: 'id', ...known }))
        const game = await definition.getById?.(known.id, rom, ctx)
        if (game !== undefined) return game
      }
      return question.searches ? await definition.identify?.(rom, ctx) : undefined
    })
    return match === undefined ? null : checkMatch(match, provider)
  }

  async function callInQueue (queue: ProviderQueue, lookup: Call): Promise<Lookup> {
    const { provider: { key } } = queue
    try {
      const match = await queue.ask(() => call(queue, lookup))
      return { result: match === null ? { kind: 'miss' } : { kind: 'match', match } }
    } catch (err) {
      scope.signal.throwIfAborted()
      failures.add(key, err)
      const isSkipped = err instanceof ProviderSkippedError
      if (!isSkipped) log.warn({ err, provider: key, rom: lookup.subject.rom.fs_name }, 'provider failed')
      return { result: { kind: 'failed' }, problem: isSkipped ? err.describe() : err instanceof Error ? err.message : String(err) }
    }
  }

  async function ask (
    queue: ProviderQueue, subject: Subject, question: Question, found: ProviderMatches
  ): Promise<{ result: LookupResult, explanation: MatchExplanation }> {
    const { key, definition } = queue.provider
    const { rom } = subject
    const explained = { name: rom.fs_name_no_tags, platform: rom.platform.slug, at: new Date() }
    if (isPassedOver(definition, found)) {
      const result = { kind: 'passed' } as const
      return { result, explanation: explainLookup(explained, result, []) }
    }
    const ids = definition.getById === undefined ? [] : listKnownIds(key, question.knownId, found)
    if (ids.length === 0 && !(question.searches && definition.identify !== undefined)) {
      return { result: { kind: 'miss' }, explanation: explainNothingToAsk(explained) }
    }
    const steps = createLookupSteps()
    const { result, problem } = await callInQueue(queue, { subject, question, found, ids, steps })
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
      { id, toSdk, questions, shared }: RomForProviders, findings: MatchUpdates
    ): Promise<Map<string, MatchExplanation>> {
      const explanations = new Map<string, MatchExplanation>()
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
        const rom = toSdk(definition)
        preferences ??= preferencesFor(rom)
        const subject = { id, rom, preferences, shared }
        const { result, explanation } = await ask(queue, subject, question, findings.before(earlier))
        const { method, reason } = explanation
        log.debug({ rom_id: id, provider: key, result: result.kind, method, reason }, 'lookup finished')
        explanations.set(key, explanation)
        findings.say(key, result)
      }

      await Promise.all(questions.map(run))
      return explanations
    }
  }
}
export type RomLookup = ReturnType<typeof createRomLookup>
