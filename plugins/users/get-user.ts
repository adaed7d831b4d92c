import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import { User } from './entities.ts'

/** Loads a user, even if the transaction has loaded it before. @throws ApiError NOT_FOUND */
export async function getUser (db: Db, id: number): Promise<User> {
  const user = await db.em.findOne(User, { id }, { refresh: true })
  if (user === null) throw notFound(`User with ID '${id}' not found`)
  return user
}
