import { type RawBuilder, sql } from 'kysely'
import type { Caller } from '../../core/auth.ts'

/** Who is looking: a caller, or null for anyone while downloads are open. */
export type Viewer = Pick<Caller, 'id' | 'role'> | null

/**
 * The condition under which a viewer sees a row of `platforms`, aliased `p`. Every query that answers someone has it;
 * nothing is hidden from anyone yet.
 */
export function isPlatformVisible (_viewer: Viewer): RawBuilder<boolean> {
  return sql<boolean>`true`
}
