import { type RawBuilder, sql } from 'kysely'
import { type Viewer, isPlatformVisible } from '../platforms/visibility.ts'

/**
 * The condition under which a viewer sees a row of `roms`, aliased `r` beside its platform `p`. Every query that
 * answers someone has it: lists, counts, lookups by hash or id, siblings, files and downloads.
 */
export function isRomVisible (viewer: Viewer): RawBuilder<boolean> {
  return sql<boolean>`${isPlatformVisible(viewer)}`
}
