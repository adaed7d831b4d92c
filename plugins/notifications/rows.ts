import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { Draft } from './kinds.ts'
import { isRomVisible } from '../roms/visibility.ts'
import { INBOX_MAX, type Notification } from './entities.ts'

/** Ids of users, all administrators or all users; disabled accounts get nothing. */
export type Recipients = readonly number[] | 'admins' | 'all'

/** A row with the user who caused it. */
export interface StoredNotification extends Pick<Notification, 'id' | 'kind' | 'level' | 'data' | 'created_at'> {
  user_id: number
  title: string | null
  body: string | null
  link: string | null
  icon: string | null
  read_at: Date | null
  actor: { id: number, username: string, avatar_path: string, updated_at: Date } | null
}

interface Row extends Omit<StoredNotification, 'actor'> {
  actor_id: number | null
  username: string
  avatar_path: string
  updated_at: Date
}

const COLUMNS = `n.id, n.user_id, n.kind, n.level, n.title, n.body, n.link, n.icon, n.data, n.read_at, n.created_at,
  a.id as actor_id, a.username, a.avatar_path, a.updated_at`
const LIST = `select ${COLUMNS} from notifications n left join users a on a.id = n.actor_id
  where n.user_id = $1 order by n.id desc limit $2`

/** A fixed order of locks prevents deadlocks between two senders. */
const LOCK = `select id from users where enabled and ($1 = 'all' or $1 = 'admins' and role = 'admin' or id = any($2))
  order by id for no key update`
const INSERT = `with n as (
    insert into notifications (user_id, kind, level, title, body, link, icon, data, actor_id)
    select id, $2, $3, $4, $5, $6, $7, $8::jsonb, nullif($9::int, id) from unnest($1::int[]) as recipients (id) returning *)
  select ${COLUMNS} from n left join users a on a.id = n.actor_id order by n.id`
const PRUNE = `delete from notifications n using unnest($1::int[]) as recipients (id), lateral (
    select id from notifications where user_id = recipients.id order by id desc offset $2 limit 1) as first_over
  where n.user_id = recipients.id and n.id <= first_over.id`

const READ = `update notifications set read_at = coalesce(read_at, now())
  where user_id = $1 and ($2::int[] is null or id = any($2)) returning id`

function fromRow (row: Row): StoredNotification {
  const { actor_id: id, username, avatar_path: avatar, updated_at: updatedAt, ...sentText } = row
  return { ...sentText, actor: id === null ? null : { id, username, avatar_path: avatar, updated_at: updatedAt } }
}

/** Locks the recipients until the transaction ends, because concurrent sends could exceed the size of inboxes. */
export async function lockRecipients (tx: Db, to: Recipients): Promise<number[]> {
  const values = typeof to === 'string' ? [to, []] : ['', to]
  return (await tx.query<{ id: number }>(LOCK, values)).rows.map(({ id }) => id)
}

/**
 * Inserts a notification into inboxes and deletes their oldest ones. The actor is only stored in inboxes of other
 * users.
 */
export async function insertNotifications (
  tx: Db, { kind, level, sentText, data }: Draft, userIds: readonly number[], actorId: number | null
): Promise<StoredNotification[]> {
  const { rows } = await tx.query<Row>(INSERT,
    [userIds, kind, level, sentText.title, sentText.body, sentText.link, sentText.icon, toDatabaseJson(data), actorId])
  await tx.query(PRUNE, [userIds, INBOX_MAX])
  return rows.map(fromRow)
}

/** Selects the names of those of these ROMs that the caller sees. */
export async function selectNames ({ db, caller }: Context, romIds: readonly number[]): Promise<Map<number, string>> {
  if (romIds.length === 0) return new Map()
  const { rows } = await sql<{ id: number, name: string }>`select r.id, coalesce(nullif(r.name, ''), r.fs_name_no_tags) as name
    from roms r join platforms p on p.id = r.platform_id where r.id = any(${romIds}::int[]) and ${isRomVisible(caller)}`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Access to the inboxes of users. */
export function createInbox (db: Db) {
  return {
    /** Lists the inbox of a user, newest first. */
    async list (userId: number): Promise<StoredNotification[]> {
      return (await db.query<Row>(LIST, [userId, INBOX_MAX])).rows.map(fromRow)
    },

    /** @returns the ids that belong to the user */
    async read (userId: number, chosen: readonly number[] | null): Promise<number[]> {
      return (await db.query<{ id: number }>(READ, [userId, chosen])).rows.map(({ id }) => id)
    },

    /** @returns true if the notification belonged to the user */
    async delete (userId: number, id: number): Promise<boolean> {
      return (await db.query('delete from notifications where user_id = $1 and id = $2', [userId, id])).rowCount === 1
    },

    async deleteAll (userId: number): Promise<void> {
      await db.query('delete from notifications where user_id = $1', [userId])
    }
  }
}
