import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'

/** How a provider fares, as the process that asks it sees it. */
export const CircuitSchema = Type.Object({
  state: StringEnum(['closed', 'open', 'half_open'], {
    description: 'closed: it is asked; open: it is left alone; half_open: the next call tries whether it answers again'
  }),
  reason: Nullable(Type.String({ description: 'Why it is not asked, or the error of the last call; null when that was answered' })),
  failures_in_a_row: Type.Integer({ minimum: 0 }),
  opened_at: Nullable(DateTime),
  retry_at: Nullable(Type.String({
    format: 'date-time', description: 'When it is asked again; null when it is asked now, or not before the next scan'
  }))
}, { title: 'Circuit' })
export type Circuit = Static<typeof CircuitSchema>
