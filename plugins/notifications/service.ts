import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { shareableBaseUrl } from '../../core/config/base-url.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { notFound } from '../../core/errors.ts'
import { userRoom } from '../../core/sockets/sockets.ts'
import { createThrottle } from '../auth/throttle-rows.ts'
import { type Draft, type NotificationCause, draftOf } from './kinds.ts'
import type { NotificationView, SendNotification } from './schemas.ts'
import { findRomId, toOutgoing, toView, withCurrentName } from './views.ts'
import { checkFound, readDraft, readRecipients } from './send-notification.ts'
import { type Recipients, createInbox, insertNotifications, lockRecipients, selectNames } from './rows.ts'

const SENDS_PER_MINUTE = 60

/** An occasion with its recipients. */
export type NotificationRequest = NotificationCause & {
  to: readonly number[] | 'admins'
  /** The user who caused the notification, if any. */
  actor_id?: number | null
}

interface Delivery { draft: Draft, to: Recipients, actorId: number | null, isStrict: boolean }

/**
 * Stores the notification, publishes it to open clients, then wakes the channels. A crash in between loses no row.
 */
async function deliver (
  app: FastifyInstance, baseUrl: string | null, { draft, to, actorId, isStrict }: Delivery
): Promise<NotificationView[]> {
  const rows = await inTransaction(app.db, async (tx) => {
    const userIds = await lockRecipients(tx, to)
    if (isStrict) checkFound(to, userIds)
    if (userIds.length === 0) return []
    const stored = await insertNotifications(tx, draft, userIds, actorId)
    await app.channels.enqueue(tx, stored.map((row) =>
      ({ user_id: row.user_id, topic: draft.topic, notification: toOutgoing(row, draft, baseUrl) })))
    return stored
  })
  for (const row of rows) app.sockets.publish(userRoom(row.user_id), 'notifications:new', toView(row))
  if (rows.length > 0) app.channels.wake()
  return rows.map(toView)
}

export function createNotifications (app: FastifyInstance, config: Config) {
  const inbox = createInbox(app.db)
  const throttle = createThrottle(app.db)
  const baseUrl = shareableBaseUrl(config)

  return {
    /** Notifies users of an event. Never throws, because the event already happened. */
    async notify (notice: NotificationRequest): Promise<void> {
      const { kind, to, actor_id: actorId = null } = notice
      try {
        await deliver(app, baseUrl, { draft: draftOf(notice), to, actorId, isStrict: false })
      } catch (err) {
        app.log.error({ err, kind, to }, 'a notification could not be stored')
      }
    },

    /**
     * Sends a notification of a client.
     *
     * @throws ApiError TOO_MANY_REQUESTS, INVALID, FORBIDDEN for other recipients, NOT_FOUND for a named user who does
     *   not exist or is disabled.
     */
    async send (caller: Caller, input: SendNotification): Promise<NotificationView[]> {
      await throttle.countUse({ key: `notifications:${caller.id}`, max: SENDS_PER_MINUTE, seconds: 60 })
      const [draft, to] = [readDraft(input), readRecipients(caller, input.recipients)]
      return await deliver(app, baseUrl, { draft, to, actorId: caller.id, isStrict: true })
    },

    /** Lists the caller's inbox, newest first. Notifications name ROMs as they are called now. */
    async list (context: Context): Promise<NotificationView[]> {
      const rows = await inbox.list(context.caller.id)
      const names = await selectNames(context, rows.flatMap(({ data }) => findRomId(data) ?? []))
      return rows.map((row) => toView({ ...row, data: withCurrentName(row.data, names) }))
    },

    /** Marks some notifications as read, or all. Ids of other users are ignored. */
    async read (caller: Caller, chosen: readonly number[] | null): Promise<void> {
      const ids = await inbox.read(caller.id, chosen)
      if (chosen === null) app.sockets.publish(userRoom(caller.id), 'notifications:read', { ids: null })
      else if (ids.length > 0) app.sockets.publish(userRoom(caller.id), 'notifications:read', { ids })
    },

    /** @throws ApiError NOT_FOUND */
    async dismiss (caller: Caller, id: number): Promise<void> {
      if (!await inbox.delete(caller.id, id)) throw notFound(`Notification with ID '${id}' not found`)
      app.sockets.publish(userRoom(caller.id), 'notifications:dismissed', { ids: [id] })
    },

    async dismissAll (caller: Caller): Promise<void> {
      await inbox.deleteAll(caller.id)
      app.sockets.publish(userRoom(caller.id), 'notifications:dismissed', { ids: null })
    }
  }
}
