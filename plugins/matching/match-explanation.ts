import { type Static, Type } from '@sinclair/typebox'
import { HashStepSchema, type ProviderId, SearchStepSchema, SidecarStepSchema } from '@svc/plugin-sdk'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'
import { type ExplainedStep, ID_ORIGINS, type IdStep, IdStepSchema, cutText } from './lookup-steps.ts'
import { type LookupResult, type ProviderMatches, idOf } from './matches.ts'

/** The ways in which a match comes to be. `provider`: the provider gave the match and recorded no step. */
const MATCH_METHODS = [...ID_ORIGINS, 'hash', 'search', 'sidecar', 'provider'] as const
export type MatchMethod = typeof MATCH_METHODS[number]

const MATCH_REASONS = [
  'id_known', 'id_not_checked', 'hash_known', 'best_candidate', 'sidecar_entry', 'unexplained'
] as const
const MISS_REASONS = ['id_unknown', 'hash_unknown', 'no_candidate', 'score_too_low', 'candidate_refused', 'no_sidecar_entry',
  'unknown', 'nothing_to_ask', 'not_needed', 'failed'] as const
/** The reason of a decision; the first six accept a match, and all others do not. */
export const EXPLANATION_REASONS = [...MATCH_REASONS, ...MISS_REASONS] as const
export type ExplanationReason = typeof EXPLANATION_REASONS[number]

export const MatchExplanationSchema = Type.Object({
  method: Nullable(StringEnum(MATCH_METHODS, { description: 'The method that found the match; null without a match' })),
  reason: StringEnum(EXPLANATION_REASONS),
  name: Type.String({ description: 'The name of the ROM at that time' }),
  platform: Type.String({ description: 'The slug of the platform with which the ROM was looked up' }),
  steps: Type.Array(Type.Union([IdStepSchema, HashStepSchema, SearchStepSchema, SidecarStepSchema]), {
    description: 'The steps in their order; the last one found the match'
  }),
  problem: Type.Optional(Type.String({ description: 'The error of a lookup that failed' })),
  at: DateTime
}, { title: 'MatchExplanation' })
/** The account of one lookup of a ROM at one provider: the question, the candidates and the reason of the decision. */
export type MatchExplanation = Static<typeof MatchExplanationSchema>

/** The ROM of a lookup, and the time of its decision. */
export interface ExplainedRom { name: string, platform: string, at: Date }

const PROBLEM_MAX = 200

interface Decision { method: MatchMethod | null, reason: ExplanationReason }

/** Returns the decision that the last step of a match made. */
function explainMatchStep (last: ExplainedStep | undefined): Decision {
  switch (last?.by) {
    case 'id': return { method: last.from, reason: 'id_known' }
    case 'hash': return { method: 'hash', reason: 'hash_known' }
    case 'search': return { method: 'search', reason: 'best_candidate' }
    case 'sidecar': return { method: 'sidecar', reason: 'sidecar_entry' }
    case undefined: return { method: 'provider', reason: 'unexplained' }
  }
}

/** Returns the reason of a miss: that of its searches, else of its other steps. */
function explainMiss (steps: readonly ExplainedStep[]): ExplanationReason {
  const searches = steps.filter((step) => step.by === 'search')
  const isRefused = searches.some(({ threshold, candidates }) =>
    candidates.some(({ score }) => score !== null && score >= threshold))
  if (isRefused) return 'candidate_refused'
  if (searches.length > 0) return searches.some(({ count }) => count > 0) ? 'score_too_low' : 'no_candidate'
  if (steps.some(({ by }) => by === 'hash')) return 'hash_unknown'
  if (steps.some(({ by }) => by === 'sidecar')) return 'no_sidecar_entry'
  return steps.length > 0 ? 'id_unknown' : 'unknown'
}

function explainResult (result: LookupResult, steps: readonly ExplainedStep[]): Decision {
  switch (result.kind) {
    case 'match': return explainMatchStep(steps.at(-1))
    case 'miss': return { method: null, reason: explainMiss(steps) }
    case 'passed': return { method: null, reason: 'not_needed' }
    case 'failed': return { method: null, reason: 'failed' }
  }
}

const describeRom = ({ name, platform, at }: ExplainedRom) =>
  ({ name: cutText(name), platform: cutText(platform), at: at.toISOString() })

/** Explains the result of a lookup by the steps that led to it. `problem` is the error of a lookup that failed. */
export function explainLookup (
  rom: ExplainedRom, result: LookupResult, steps: readonly ExplainedStep[], problem?: string
): MatchExplanation {
  return {
    ...explainResult(result, steps), ...describeRom(rom), steps: [...steps],
    ...problem !== undefined && { problem: cutText(problem, PROBLEM_MAX) }
  }
}

/** Explains the lookup that did not take place, because there is neither an id nor a search. */
export const explainNoLookup = (rom: ExplainedRom): MatchExplanation =>
  ({ method: null, reason: 'nothing_to_ask', ...describeRom(rom), steps: [] })

/** Explains the match that a person chose. */
export const explainChoice = (rom: ExplainedRom, id: ProviderId): MatchExplanation =>
  ({ method: 'person', reason: 'id_known', ...describeRom(rom), steps: [{ by: 'id', id, from: 'person' }] })

/** Explains an id that another provider gave, and that its own provider was not asked about. */
function explainLinked (
  rom: ExplainedRom, key: string, id: ProviderId, matches: ProviderMatches
): MatchExplanation {
  const linkingProvider = [...matches].find(([, { ids }]) => ids?.[key] === id)?.[0]
  const step: IdStep = { by: 'id', id, from: 'link', ...linkingProvider !== undefined && { provider: linkingProvider } }
  return { method: 'link', reason: 'id_not_checked', ...describeRom(rom), steps: [step] }
}

/** A known id of a game at a provider. */
export type KnownId = Omit<IdStep, 'by'>

/** Lists the ids by which a provider can be asked about a ROM: the planned one, then those of other providers. */
export function listKnownIds (key: string, planned: KnownId | null, matches: ProviderMatches): KnownId[] {
  const linked = [...matches].flatMap(([provider, { ids }]): KnownId[] => {
    const id = ids?.[key]
    return id === undefined ? [] : [{ id, from: 'link', provider }]
  })
  const all = [...planned === null ? [] : [planned], ...linked]
  return all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index)
}

/** Returns the explanations to store with the new matches of a ROM. */
export function explainMatches (
  rom: ExplainedRom, { matches, newMatches }: { matches: ProviderMatches, newMatches: ProviderMatches },
  lookups: ReadonlyMap<string, MatchExplanation>
): Map<string, MatchExplanation> {
  return new Map([...newMatches].flatMap(([key, match]) => {
    const id = idOf(match)
    const isLinked = 'is_linked' in match && id !== null
    const explanation = isLinked ? explainLinked(rom, key, id, matches) : lookups.get(key)
    return explanation === undefined ? [] : [[key, explanation] as const]
  }))
}

/** Returns the explanations of the lookups of providers that have no match of their own. */
export function listMisses (
  all: ProviderMatches, lookups: ReadonlyMap<string, MatchExplanation>
): Map<string, MatchExplanation> {
  return new Map([...lookups].filter(([key, { method }]) => method === null && !all.has(key)))
}
