import type { Secrets } from '../../core/access/secrets.ts'
import { formatDate } from '../../core/typebox.ts'
import type { NotificationChannel } from './entities.ts'
import { UNREADABLE, openSettings } from './sealed-settings.ts'
import type { ChannelView } from './schemas.ts'

/** Returns the view of a channel for its owner. */
export function toChannelView (row: NotificationChannel, secrets: Secrets): ChannelView {
  const view = openSettings(secrets, row.sealed)?.view ?? UNREADABLE
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    enabled: row.enabled,
    min_level: row.min_level,
    topics: row.topics ?? null,
    ...view,
    confirmed: row.confirmed,
    last_delivered_at: formatDate(row.last_delivered_at ?? null),
    last_error: row.last_error ?? null,
    consecutive_failures: row.consecutive_failures,
    created_at: formatDate(row.created_at)
  }
}
