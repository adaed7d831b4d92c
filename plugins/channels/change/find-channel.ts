import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import { notFound } from '../../../core/errors.ts'
import { NotificationChannel } from '../entities.ts'

const channelNotFound = (id: number) => notFound(`Notification channel with ID '${id}' not found`)

/** Returns a channel of the caller. @throws ApiError NOT_FOUND */
export async function findChannel ({ db, caller }: Context, id: number): Promise<NotificationChannel> {
  const row = await db.em.findOne(NotificationChannel, { id, user: caller.id })
  if (row === null) throw channelNotFound(id)
  return row
}

/** @throws ApiError NOT_FOUND if the channel was deleted meanwhile. */
export async function reloadChannel (db: Db, row: NotificationChannel): Promise<NotificationChannel> {
  const { id } = row
  const found = await db.em.refresh(row)
  if (found === null) throw channelNotFound(id)
  return found
}
