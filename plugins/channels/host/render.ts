import type { ChannelDefinition, OutgoingNotification } from '@svc/plugin-sdk'

const LEVELS = ['info', 'success', 'warning', 'error'] as const
/** Number of latest notifications that a folded one shows. */
export const SHOWN = 10
const LINE_CHARACTERS = 200

/** Cuts a text to a maximum length; an ellipsis replaces the last character. */
function cutText (text: string, max: number | undefined): string {
  if (max === undefined || text.length <= max) return text
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, Math.max(0, max - 1)).join('')}…`
}

/** Cuts a notification to the lengths that its destination accepts. */
export function cutNotification (notification: OutgoingNotification, limits: ChannelDefinition['limits'] = {}): OutgoingNotification {
  const { title, body } = notification
  return { ...notification, title: cutText(title, limits.titleLength), body: cutText(body, limits.bodyLength) }
}

const toLine = ({ title, body }: OutgoingNotification) =>
  `• ${cutText([title, body].filter((text) => text !== '').join(': ').replace(/\s+/g, ' '), LINE_CHARACTERS)}`

/**
 * Folds many notifications into one, with the id and time of the newest and the most severe level.
 *
 * @param latest newest first
 * @param count total number of notifications
 */
export function foldNotifications (
  latest: readonly [OutgoingNotification, ...OutgoingNotification[]], count: number, rank: number
): OutgoingNotification {
  const [newest] = latest
  const more = count - latest.length
  return {
    event: 'notification',
    id: newest.id,
    kind: 'custom',
    level: LEVELS[rank] ?? 'info',
    title: `${count} notifications`,
    body: [...latest.map(toLine), ...(more > 0 ? [`… and ${more} earlier`] : [])].join('\n'),
    url: null,
    data: { count },
    actor: null,
    created_at: newest.created_at
  }
}
