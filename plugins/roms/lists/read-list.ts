import { allOf } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isOneOf } from '../filters/list-conditions.ts'
import type { CachedList } from './cached-list.ts'
import { selectListIndex } from './list-index-rows.ts'
import type { Order } from './list-order.ts'
import { ownerOf } from './sharers.ts'
import type { UpdatableList } from './update-list.ts'

/** A list, a caller whose ROMs it has, and its order. */
export interface ListOfCaller { list: CachedList, caller: AnyCaller, order: Order }

/** Reads a whole list. @param ids the only ROMs that it can contain, if they are known and few */
export async function readList (
  reads: LongReads, { list: { condition }, caller, order }: ListOfCaller, ids: Int32Array | null = null
): Promise<UpdatableList> {
  const at = Date.now()
  const isListed = ids === null ? condition(caller, false) : allOf([isOneOf([...ids]), condition(caller, true)])
  const { index, snapshot } = await selectListIndex(reads, { userId: caller?.id ?? null, order }, isListed)
  const own = ownerOf(caller) === null ? new Set<number>() : null
  return { index, snapshots: [snapshot], at, own, isOfGroup: caller !== null }
}
