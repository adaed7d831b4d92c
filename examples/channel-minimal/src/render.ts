import type { OutgoingNotification } from '@svc/plugin-sdk'

/** The title on the first line, then the body and the link; parts that are empty are left out. */
export function renderText ({ title, body, url }: OutgoingNotification): string {
  const firstLine = title.replace(/\s+/g, ' ').trim()
  return [firstLine, body.trim(), url ?? ''].filter((part) => part !== '').join('\n\n')
}
