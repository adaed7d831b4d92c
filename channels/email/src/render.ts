import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { NotificationLevel, OutgoingNotification } from '@svc/plugin-sdk'

/** A mail to one recipient, independent of transport. */
export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** If absent, every attempt has another id. */
  messageId?: string
  date?: Date
}

const COLOURS: Record<NotificationLevel, string> = {
  info: '#2563eb', success: '#16a34a', warning: '#d97706', error: '#dc2626'
}
const FOOTER = 'You get this mail because this address is one of your notification channels. Remove the channel to stop these mails.'

export function renderNotification (notification: OutgoingNotification, to: string, from: string): Mail {
  const { level, title, body, url, created_at: createdAt } = notification
  const heading = toLine(title)
  const link = isWebAddress(url) ? url : null
  return {
    to,
    subject: `[Svc] ${heading}`,
    text: joinParts([heading, body.trim(), link ?? '', `-- \n${FOOTER}`]),
    html: renderPage(heading, COLOURS[level], [
      toParagraph(body), link === null ? '' : `<p><a href="${escape(link)}">Open in Svc</a></p>`
    ], FOOTER),
    messageId: nameMessage(notification, to, from),
    date: readDate(createdAt)
  }
}

export function renderConfirmation (code: string, to: string): Mail {
  const heading = 'Confirm your email channel'
  const question = 'Enter this code to get notifications at this address. It is valid for 30 minutes.'
  const footer = 'If you did not request this code, do nothing: without the code no notifications are sent here.'
  return {
    to,
    subject: `[Svc] ${heading}`,
    text: joinParts([question, `    ${toLine(code)}`, footer]),
    html: renderPage(heading, COLOURS.info, [
      toParagraph(question), `<p style="font-size:28px;letter-spacing:4px;font-family:monospace">${escape(toLine(code))}</p>`
    ], footer)
  }
}

/**
 * Returns the same id for every attempt. Mail clients then show a mail once that was sent twice after a lost
 * response.
 */
function nameMessage ({ id, created_at: createdAt }: OutgoingNotification, to: string, from: string): string {
  const digest = createHash('sha256').update(JSON.stringify([from, to, id, createdAt])).digest('hex').slice(0, 32)
  const domain = domainToASCII(/@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? '')
  return `<${digest}@${domain === '' ? 'svc.invalid' : domain}>`
}

function renderPage (heading: string, colour: string, paragraphs: readonly string[], footer: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escape(heading)}</title></head>
<body style="margin:0;padding:24px;background:#f4f4f5;color:#18181b;font-family:sans-serif;font-size:16px;line-height:1.5">
<div style="max-width:36em;margin:0 auto;padding:16px 24px;background:#ffffff;border-left:4px solid ${colour}">
<h1 style="margin:0;font-size:20px">${escape(heading)}</h1>
${paragraphs.filter((paragraph) => paragraph !== '').join('\n')}
</div>
<p style="max-width:36em;margin:16px auto;color:#71717a;font-size:13px">${escape(footer)}</p>
</body>
</html>
`
}

function toParagraph (text: string): string {
  return text.trim() === '' ? '' : `<p>${escape(text.trim()).replace(/\r\n?|\n/g, '<br>\n')}</p>`
}

function joinParts (parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** Converts text to one line, because a line feed in a subject would begin the next header. */
function toLine (text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escape (text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

function isWebAddress (url: string | null): url is string {
  return url !== null && /^https?:\/\//i.test(url)
}

function readDate (text: string): Date | undefined {
  return Number.isNaN(Date.parse(text)) ? undefined : new Date(text)
}
