import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'

/** The state of a provider's circuit in the process that calls this provider. */
export const CircuitSchema = Type.Object({
  state: StringEnum(['closed', 'open', 'half_open'], {
    description: 'closed: the provider is called; open: it is not; half_open: the next call is a probe'
  }),
  reason: Nullable(Type.String({ description: 'The reason why the provider is not called, or the error of its last call; null after a success' })),
  failures_in_a_row: Type.Integer({ minimum: 0 }),
  opened_at: Nullable(DateTime),
  retry_at: Nullable(Type.String({
    format: 'date-time', description: 'When calls resume; null if they are allowed now, or not before the next scan'
  }))
}, { title: 'Circuit' })
export type Circuit = Static<typeof CircuitSchema>
