import type { ChannelDefinition, OutgoingNotification } from '@svc/plugin-sdk'

const LEVELS = ['info', 'success', 'warning', 'error'] as const
/** The latest of many that are shown by their text. */
export const SHOWN = 10
const LINE_CHARACTERS = 200

/** At most so many characters, the last of which then says that there was more. */
function fitText (text: string, max: number | undefined): string {
  if (max === undefined || text.length <= max) return text
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, Math.max(0, max - 1)).join('')}…`
}

/** A notification no longer than its destination takes. */
export function fitNotification (notification: OutgoingNotification, limits: ChannelDefinition['limits'] = {}): OutgoingNotification {
  const { title, body } = notification
  return { ...notification, title: fitText(title, limits.titleLength), body: fitText(body, limits.bodyLength) }
}

const toLine = ({ title, body }: OutgoingNotification) =>
  `• ${fitText([title, body].filter((text) => text !== '').join(': ').replace(/\s+/g, ' '), LINE_CHARACTERS)}`

/**
 * Many notifications as one, which takes the number and time of the newest and the gravest level.
 *
 * @param latest newest first
 * @param count how many there are in all
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
