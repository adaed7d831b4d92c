import type { Db } from '../../core/database/db.ts'
import type { User } from './entities.ts'
import { getUser } from './get-user.ts'

/** Returns the folder of a user's uploads, below the folder `assets` of the data directory. */
export const userFolder = ({ folder }: Pick<User, 'folder'>): string => `users/${folder}`

/** @throws ApiError NOT_FOUND if the account no longer exists. */
export async function findUserFolder (db: Db, userId: number): Promise<string> {
  return userFolder(await getUser(db, userId))
}
