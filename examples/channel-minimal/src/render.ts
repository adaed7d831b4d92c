import type { OutgoingNotification } from '@svc/plugin-sdk'

/** Renders the title on the first line, then the body and the link; skips empty parts. */
export function renderText ({ title, body, url }: OutgoingNotification): string {
  const firstLine = title.replace(/\s+/g, ' ').trim()
  return [firstLine, body.trim(), url ?? ''].filter((part) => part !== '').join('\n\n')
}
