import type { OutgoingNotification } from '@svc/plugin-sdk'
import { defuse, type Escape, fit, plain, toLine, toLines } from './text.ts'

export type MessageType = 'info' | 'success' | 'warning' | 'failure'

/** A notification as a service shows it: cut to its limits, with nothing in it that it would act on. */
export interface Message {
  /** Empty for services without titles, whose text begins with it. */
  readonly title: string
  readonly text: string
  /** Null also when it is the last line of the text. */
  readonly link: string | null
  readonly type: MessageType
  /** The same for every attempt to deliver the same notification. */
  readonly id: string
  /** Seconds since 1970. */
  readonly time: number
}

export interface Rendering {
  /** Code points; a title of 0 makes the title the first line of the text. */
  readonly limits: { readonly title: number, readonly text: number }
  /** Whether the link has a place of its own; else it is the last line of the text. */
  readonly takesLink: boolean
  /** Whether an `@` at the beginning of a word would call people. */
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
    // Many services refuse an empty text.
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
