import { LockMode } from '@mikro-orm/core'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { unknownCollection } from './access.ts'
import { Collection } from './entities.ts'

/** Runs work on a collection while its row is locked. @throws ApiError NOT_FOUND */
export async function lockCollection (
  db: Db, id: number, work: (tx: Db, collection: Collection) => Promise<void>
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const collection = await tx.em.findOne(Collection, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    if (collection === null) throw unknownCollection(id)
    await work(tx, collection)
    await tx.em.flush()
  })
}
