import type { OutgoingNotification } from '@svc/plugin-sdk'
import { ID_MAX, formatDate } from '../../core/typebox.ts'
import type { Draft } from './kinds.ts'
import type { StoredNotification } from './rows.ts'
import type { NotificationView } from './schemas.ts'

/** Returns the id of the ROM that the data of a notification name; undefined for none. */
export const findRomId = ({ rom_id: id, rom_name: name }: StoredNotification['data']): number | undefined =>
  typeof name === 'string' && typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= ID_MAX ? id : undefined

/** Replaces the name of a ROM by the current one. The stored name stays if the ROM is gone or hidden. */
export function withCurrentName (data: StoredNotification['data'], names: ReadonlyMap<number, string>): StoredNotification['data'] {
  const name = names.get(findRomId(data) ?? -1)
  return name === undefined ? data : { ...data, rom_name: name }
}

/** Returns the view of a notification for its owner. */
export function toView ({ user_id: _owner, ...row }: StoredNotification): NotificationView {
  const { actor, read_at: readAt, created_at: createdAt } = row
  return {
    ...row,
    actor: actor === null ? null : { ...actor, updated_at: formatDate(actor.updated_at) },
    read_at: formatDate(readAt),
    created_at: formatDate(createdAt)
  }
}

/** Returns the form of a notification for channels. Links are absolute if the server has an address to share. */
export function toOutgoing (
  { id, actor, created_at: createdAt }: StoredNotification, draft: Draft, baseUrl: string | null
): OutgoingNotification {
  const { kind, level, data, text: { title, body, path } } = draft
  return {
    event: 'notification',
    id,
    kind,
    level,
    title,
    body,
    url: baseUrl === null || path === null ? null : baseUrl + path,
    data,
    actor: actor === null ? null : { id: actor.id, username: actor.username },
    created_at: formatDate(createdAt)
  }
}
