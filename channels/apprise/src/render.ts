import type { OutgoingNotification } from '@svc/plugin-sdk'
import { disarmMentions, type EscapeCharacter, cutText, noEscape, toLine, toLines } from './text.ts'

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
  readonly hasLinkField: boolean
  /** True if an `@` at the beginning of a word would notify people. */
  readonly hasMentions: boolean
  readonly escape?: EscapeCharacter
}

const TYPES = { info: 'info', success: 'success', warning: 'warning', error: 'failure' } as const
const EMPTY_TITLE = 'Notification'

export function renderMessage (notification: OutgoingNotification, rendering: Rendering): Message {
  const { limits, hasLinkField, hasMentions, escape = noEscape } = rendering
  const { url, level, id } = notification
  const disarmText = hasMentions ? disarmMentions : (text: string) => text
  const title = disarmText(toLine(notification.title)) || EMPTY_TITLE
  const body = disarmText(toLines(notification.body))
  const head = limits.title === 0 ? joinLines(title, body) : body
  const ending = hasLinkField || url === null ? '' : url
  const room = limits.text - (ending === '' ? 0 : Array.from(ending).length + 2)
  const time = Date.parse(notification.created_at)
  return {
    title: limits.title === 0 ? '' : cutText(title, limits.title, escape),
    // Falls back to the title, because many services refuse an empty text.
    text: joinLines(cutText(head, room, escape), ending) || cutText(title, limits.text, escape),
    link: hasLinkField ? url : null,
    type: TYPES[level],
    id: `svc-${id}-${time}`,
    time: Math.floor(time / 1000)
  }
}

function joinLines (...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}
