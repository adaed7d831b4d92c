import { type RawBuilder, sql } from 'kysely'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isCollectionVisible } from '../visibility.ts'
import type { Criteria } from './criteria.ts'

/** A collection that contains a ROM. A collection with a filter contains the ROM only if the filter finds it. */
export interface MembershipRow { id: number, user_id: number, name: string, filter_criteria: Criteria | null }

/** Selects the visible collections that contain ROM `i`, or may contain it: plain ones by name, then smart ones. */
export const selectMembershipsOf = (caller: AnyCaller): RawBuilder<MembershipRow> => sql<MembershipRow>`select * from (
    select c.id, c.user_id, c.name, null::jsonb as filter_criteria
    from collection_roms l join collections c on c.id = l.collection_id
    where l.rom_id = i.id and ${isCollectionVisible(caller)}
    union all select c.id, c.user_id, c.name, c.filter_criteria from smart_collections c where ${isCollectionVisible(caller)}
  ) h order by h.filter_criteria is not null, lower(h.name), h.name, h.id`
