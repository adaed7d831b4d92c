import { type Static, Type } from '@sinclair/typebox'
import { Nullable, StringEnum } from '../../core/typebox.ts'
import type { ExplanationRow } from './explanation-rows.ts'
import { EXPLANATION_REASONS, MatchExplanationSchema } from './match-explanation.ts'

const { reason: _reason, at, name, platform, ...explained } = MatchExplanationSchema.properties

/** The lookup of a ROM at one provider, as people see it. */
export const RomLookupSchema = Type.Object({
  provider: Type.String(),
  provider_id: Nullable(Type.String({ description: 'The id of the game at the provider; null without a match' })),
  score: Nullable(Type.Number({ description: 'Null for a match that is certain' })),
  ...explained,
  reason: StringEnum([...EXPLANATION_REASONS, 'not_recorded']),
  name: Nullable(name),
  platform: Nullable(platform),
  at: Nullable(at)
}, { title: 'RomLookup' })
export type RomLookup = Static<typeof RomLookupSchema>

const NOT_RECORDED = { method: null, reason: 'not_recorded', name: null, platform: null, at: null } as const

/** Returns a lookup in its wire form. A match from before explanations were stored has none. */
export function toLookupView ({ provider, provider_id: id, score, explanation }: ExplanationRow): RomLookup {
  return { provider, provider_id: id, score, ...explanation ?? { ...NOT_RECORDED, steps: [] } }
}
