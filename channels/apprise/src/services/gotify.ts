import { defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT, PATH, readOrigin } from '../service.ts'

// Request: https://gotify.net/docs/pushmsg, link: https://gotify.net/docs/msgextras
const PRIORITIES: Readonly<Record<string, number>> = { low: 0, moderate: 3, normal: 5, high: 8, emergency: 10 }

export const gotify = defineService({
  name: 'Gotify',
  setupUrl: 'https://gotify.net/docs/pushmsg',
  plain: ['gotify'],
  secure: ['gotifys'],
  templates: [`${HOST_PORT}[/{path}]/{token}`],
  fields: {
    ...HOST_FIELDS,
    path: PATH,
    token: { label: 'Application token', type: 'string', required: true, private: true, pattern: HEADER_TEXT },
    priority: {
      label: 'Priority', type: 'choice', values: Object.keys(PRIORITIES), pattern: /^-?\d{1,3}$/,
      synonyms: {
        l: 'low', m: 'moderate', n: 'normal', h: 'high', e: 'emergency', urgent: 'emergency', max: 'emergency', min: 'low'
      }
    }
  },
  defaultOptions: ['image=no'],
  nativeQuery: ['token'],
  urlFields: ['schema', 'host', 'port', 'token'],
  rendering: { hasLinkField: true },

  readNative (url) {
    const token = url.searchParams.get('token')
    if (url.pathname !== '/message' || token === null) return null
    return { ...readOrigin({ plain: 'gotify', secure: 'gotifys' }, url), token }
  },

  toRequests ({ text, origin }, { title, text: message, link, type }) {
    const path = text('path') === '' ? '' : `/${text('path')}`
    const priority = text('priority') || (type === 'failure' ? 'high' : 'normal')
    return [{
      url: `${origin}${path}/message`,
      headers: { 'x-gotify-key': text('token') },
      json: {
        title,
        message,
        priority: PRIORITIES[priority] ?? Number(priority),
        extras: link === null ? undefined : { 'client::notification': { click: { url: link } } }
      }
    }]
  },

  isAccepted: ({ json }) => typeof json.id === 'number'
})
