import type { EntityName, FilterQuery } from '@mikro-orm/core'
import { type ApiError, notFound } from '../errors.ts'
import type { Db } from './db.ts'

/** Creates the error for an object that another request deleted after this one had read it. */
export const alreadyDeleted = (what: string): ApiError => notFound(`${what} was already deleted by another request`)

/**
 * Deletes a row that the caller has read before.
 *
 * @param what names the object in the error
 * @throws ApiError NOT_FOUND if another request deleted the row first
 */
export async function deleteRow<Row extends { id: number }> (
  db: Db, entity: EntityName<Row>, id: number, what: string
): Promise<void> {
  const deleted = await db.em.nativeDelete(entity, { id } as FilterQuery<Row>)
  if (deleted === 0) throw alreadyDeleted(what)
}
