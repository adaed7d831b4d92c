import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../core/errors.ts'
import { User } from './entities.ts'

/** Returns the folder of a user's uploads, below the folder `assets` of the data directory. */
export const userFolder = ({ folder }: Pick<User, 'folder'>): string => `users/${folder}`

/** @throws ApiError NOT_FOUND if the account no longer exists. */
export async function findUserFolder (em: EntityManager, userId: number): Promise<string> {
  const user = await em.findOne(User, { id: userId })
  if (user === null) throw notFound(`User with ID '${userId}' not found`)
  return userFolder(user)
}
