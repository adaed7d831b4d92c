import type { OutgoingNotification } from '@svc/plugin-sdk'
import { defuse, type Escape, fit, plain, toLine, toLines } from './text.ts'

export type MessageType = 'info' | 'success' | 'warning' | 'failure'

/** A notification in the form of a service: cut to its limits, and without active markup. */
export interface Message {
  /** Empty for services without titles; the text then begins with the title. */
  readonly title: string
  readonly text: string
  /** Null also when the link is the last line of the text. */
  readonly link: string | null
  readonly type: MessageType
  /** An id that is the same for all attempts to deliver one notification. */
  readonly id: string
  /** Seconds since 1970. */
  readonly time: number
}

export interface Rendering {
  /** Limits in code points; a title limit of 0 makes the title the first line of the text. */
  readonly limits: { readonly title: number, readonly text: number }
  /** True if the service has a separate field for the link; otherwise the link is the last line of the text. */
  readonly takesLink: boolean
  /** True if an `@` at the beginning of a word would notify people. */
  readonly mentions: boolean
  readonly escape?: Escape
}

const TYPES = { info: 'info', success: 'success', warning: 'warning', error: 'failure' } as const
const EMPTY_TITLE = 'Notification'

export function renderMessage (notification: OutgoingNotification, rendering: Rendering): Message {
  const { limits, takesLink, mentions, escape = plain } = rendering
  const { url, level, id } = notification
  const disarm = mentions ? defuse : (text: string) => text
  const title = disarm(toLine(notification.title)) || EMPTY_TITLE
  const body = disarm(toLines(notification.body))
  const head = limits.title === 0 ? joinLines(title, body) : body
  const ending = takesLink || url === null ? '' : url
  const room = limits.text - (ending === '' ? 0 : Array.from(ending).length + 2)
  const time = Date.parse(notification.created_at)
  return {
    title: limits.title === 0 ? '' : fit(title, limits.title, escape),
    // Falls back to the title, because many services refuse an empty text.
    text: joinLines(fit(head, room, escape), ending) || fit(title, limits.text, escape),
    link: takesLink ? url : null,
    type: TYPES[level],
    id: `svc-${id}-${time}`,
    time: Math.floor(time / 1000)
  }
}

function joinLines (...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}
