import { databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'

/** Minimum interval between two writes of an account's last use. */
const TOUCH_AFTER_MS = 5 * 60_000

/** @property last_active milliseconds since 1970 */
interface Account { id: number, last_active: number | null }

/** Records that an account was used just now. It bypasses the ORM, which would also change `updated_at`. */
export async function storeLastActive (db: Db, user: Account): Promise<void> {
  if (databaseNow() - (user.last_active ?? 0) < TOUCH_AFTER_MS) return
  await db.query('update users set last_active = now() where id = $1', [user.id])
}
