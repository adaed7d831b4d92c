import { defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT } from '../service.ts'
import { escapeByBackslash } from '../text.ts'

// Request: https://developers.home-assistant.io/docs/api/rest/ (POST /api/services/<domain>/<service>)
const DEFAULT_PORT = 8123
const TARGET = /^(?:[a-z0-9_]+\.)?[a-z0-9_]+(?::[\w.,-]+)?$/i
const escape = escapeByBackslash('\\*_~`#>|[]()<!-')

export const homeAssistant = defineService({
  name: 'Home Assistant',
  setupUrl: 'https://developers.home-assistant.io/docs/auth_api/#long-lived-access-token',
  plain: ['hassio'],
  secure: ['hassios'],
  templates: [`${HOST_PORT}/{accesstoken}[/{targets}]`],
  fields: {
    ...HOST_FIELDS,
    accesstoken: { label: 'Long-lived access token', type: 'string', required: true, private: true, pattern: HEADER_TEXT },
    targets: { label: 'Services: [domain.]service[:target,…]', type: 'list', commas: true, pattern: TARGET },
    nid: { label: 'Notification ID', type: 'string', pattern: /^[\w-]+$/ },
    prefix: { label: 'Path prefix', type: 'string', pattern: /^\/?\w[\w/-]*$/ }
  },
  aliases: { token: 'accesstoken' },
  rendering: { hasLinkField: true },

  toRequests ({ text, list, number, origin }, { title, text: body, link, id }) {
    const port = number('port') === null && origin.startsWith('http:') ? `:${DEFAULT_PORT}` : ''
    const base = `${origin}${port}${text('prefix').replace(/^\/?(.)/, '/$1').replace(/\/$/, '')}/api/services`
    const headers = { authorization: `Bearer ${text('accesstoken')}` }
    const message = link === null ? body : `${body}\n\n${link}`
    if (list('targets').length === 0) {
      // Home Assistant shows this text on its own page as Markdown.
      const shown = link === null ? escaped(body) : `${escaped(body)}\n\n<${link}>`
      const json = { title, message: shown, notification_id: text('nid') || id }
      return [{ url: `${base}/persistent_notification/create`, headers, json }]
    }
    return list('targets').map((target) => {
      const [service = '', devices] = target.split(':')
      const path = service.includes('.') ? service.replace('.', '/') : `notify/${service}`
      return { url: `${base}/${path}`, headers, json: { title, message, target: devices?.split(',') } }
    })
  }
})

function escaped (text: string): string {
  return Array.from(text, escape).join('')
}
