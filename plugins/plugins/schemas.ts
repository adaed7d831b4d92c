import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'
import { CircuitSchema } from '../circuits/schemas.ts'

export const PluginSchema = Type.Object({
  kind: Nullable(StringEnum(['provider', 'channel', 'exporter'])),
  key: Type.String(),
  name: Type.String(),
  package: Type.String(),
  version: Nullable(Type.String()),
  status: StringEnum(['active', 'disabled', 'unsupported', 'failed']),
  reason: Nullable(Type.String({ description: 'Why it is not active and what to do; null when it is' })),
  origin: StringEnum(['built-in', 'community']),
  seen_by: StringEnum(['worker', 'web'], {
    description: 'Who reports it. Only the scan worker sets plugins up; the web server only reads their schemas'
  }),
  attribution: Nullable(Type.String({ description: "The credit that a source's terms ask for, to be shown with what it gave" })),
  circuit: Nullable(CircuitSchema),
  allowances: Type.Array(Type.Object({
    name: Type.String({ description: 'What it counts, such as a day' }),
    remaining: Type.Number(),
    total: Nullable(Type.Number()),
    resets_at: DateTime
  }), { description: 'What is left of the budgets that a provider told of' }),
  paused_until: Nullable(Type.String({
    format: 'date-time', description: 'Until when a provider is not asked, since an allowance is spent; null when it is asked'
  }))
}, { title: 'Plugin', description: 'Further properties may be added' })
export type PluginView = Static<typeof PluginSchema>
