import type { OutgoingNotification } from '@svc/plugin-sdk'

/** Renders the bytes that are signed and sent: exactly the documented fields of the webhook payload, in their order. */
export function renderPayload (notification: OutgoingNotification): Buffer {
  const { event, id, kind, level, title, body, url, data, actor, created_at: createdAt } = notification
  const sender = actor === null ? null : { id: actor.id, username: actor.username }
  const payload = { event, id, kind, level, title, body, url, data, actor: sender, created_at: createdAt }
  return Buffer.from(JSON.stringify(payload))
}
