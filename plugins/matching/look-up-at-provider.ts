import type { Preferences, ProviderDefinition, Rom } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { messageOf } from '../../core/loader/process/errors.ts'
import { ProviderSkippedError } from '../circuits/check-circuit.ts'
import { checkMatch } from './check-match.ts'
import type { LookupFailures } from './lookup-failures.ts'
import { type ExplainedStep, createLookupSteps } from './lookup-steps.ts'
import { type KnownId, type MatchExplanation, explainLookup, explainNoLookup, listKnownIds } from './match-explanation.ts'
import { type ProviderMatch, type ProviderMatches, type LookupResult, isIdentified } from './matches.ts'
import type { ProviderQueue } from './provider-lookup.ts'

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

/** The services that all lookups share. */
export interface LookupServices {
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>
  scope: CallScope
  failures: LookupFailures
  log: Logger
}

/** A ROM in the form for one provider. */
export interface LookupSubject { id: number, rom: Rom, preferences: Preferences, shared: LibraryScope }

/** A lookup at the time of its call, with the matches of other providers by then. */
export interface DueLookup { subject: LookupSubject, request: LookupRequest, found: ProviderMatches }

interface ProviderCall extends DueLookup {
  ids: readonly KnownId[]
  steps: ReturnType<typeof createLookupSteps>
}

/** The result of a lookup with its error, if it failed. */
interface LookupOutcome { result: LookupResult, problem?: string }

const isSkippedByOrder = (
  { order: { when = 'always' } = {} }: ProviderDefinition, matches: ProviderMatches, { providers }: LookupServices
) => when !== 'always' && (when === 'identified') !== isIdentified(matches, providers)

async function call (
  { provider }: ProviderQueue, { subject, request, found, ids, steps }: ProviderCall, { scope, log }: LookupServices
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

async function callInQueue (
  queue: ProviderQueue, lookup: ProviderCall, services: LookupServices
): Promise<LookupOutcome> {
  const { scope, failures, log } = services
  const { provider: { key } } = queue
  try {
    const match = await queue.run(() => call(queue, lookup, services))
    return { result: match === null ? { kind: 'miss' } : { kind: 'match', match } }
  } catch (err) {
    scope.signal.throwIfAborted()
    failures.add(key, err)
    const isSkipped = err instanceof ProviderSkippedError
    if (!isSkipped) log.warn({ err, provider: key, rom: lookup.subject.rom.fs_name }, 'provider failed')
    return { result: { kind: 'failed' }, problem: isSkipped ? err.describe() : messageOf(err) }
  }
}

/** Looks a ROM up at one provider, by its known ids and then by a search, unless the order of providers skips it. */
export async function lookUpAtProvider (
  queue: ProviderQueue, { subject, request, found }: DueLookup, services: LookupServices
): Promise<{ result: LookupResult, explanation: MatchExplanation }> {
  const { key, definition } = queue.provider
  const { rom } = subject
  const explained = { name: rom.fs_name_no_tags, platform: rom.platform.slug, at: new Date() }
  if (isSkippedByOrder(definition, found, services)) {
    const result = { kind: 'passed' } as const
    return { result, explanation: explainLookup(explained, result, []) }
  }
  const ids = definition.getById === undefined ? [] : listKnownIds(key, request.knownId, found)
  if (ids.length === 0 && !(request.searches && definition.identify !== undefined)) {
    return { result: { kind: 'miss' }, explanation: explainNoLookup(explained) }
  }
  const steps = createLookupSteps()
  const { result, problem } = await callInQueue(queue, { subject, request, found, ids, steps }, services)
  return { result, explanation: explainLookup({ ...explained, at: new Date() }, result, steps.list(), problem) }
}
