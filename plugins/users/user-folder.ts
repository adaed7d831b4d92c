import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import { User } from './entities.ts'

/** Returns the folder of a user's uploads, below the folder `assets` of the data directory. */
export const userFolder = ({ folder }: Pick<User, 'folder'>): string => `users/${folder}`

/** @throws ApiError NOT_FOUND if the account no longer exists. */
export async function findUserFolder (db: Db, userId: number): Promise<string> {
  const user = await db.em.findOne(User, { id: userId })
  if (user === null) throw notFound(`User with ID '${userId}' not found`)
  return userFolder(user)
}
