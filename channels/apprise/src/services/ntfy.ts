import { defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT, LOGIN, LOGIN_FIELDS, readOrigin } from '../service.ts'
import type { MessageType } from '../render.ts'

// Request: https://docs.ntfy.sh/publish/#publish-as-json
const CLOUD = 'https://ntfy.sh'
const TOPIC = /^[a-z0-9_-]{1,64}$/i
const PRIORITIES = ['min', 'low', 'default', 'high', 'max']
// The words become symbols: https://docs.ntfy.sh/emojis/
const TAGS: Record<MessageType, string[]> = { info: [], success: ['white_check_mark'], warning: ['warning'], failure: ['rotating_light'] }

export const ntfy = defineService({
  name: 'ntfy',
  setupUrl: 'https://docs.ntfy.sh/subscribe/phone/',
  plain: ['ntfy'],
  secure: ['ntfys'],
  templates: ['{topic}', `${LOGIN}${HOST_PORT}/{targets}`, `{token}@${HOST_PORT}/{targets}`],
  fields: {
    host: { ...HOST_FIELDS.host, required: false },
    port: HOST_FIELDS.port,
    user: { ...LOGIN_FIELDS.user, pattern: /^(?!tk_)[^:]+$/ },
    password: LOGIN_FIELDS.password,
    token: { label: 'Access token', type: 'string', private: true, pattern: /^tk_[\x21-\x7e]+$/ },
    topic: { label: 'Topic at ntfy.sh', type: 'string', pattern: TOPIC },
    targets: { label: 'Topics', type: 'list', pattern: TOPIC },
    priority: {
      label: 'Priority', type: 'choice', values: PRIORITIES,
      synonyms: { 1: 'min', 2: 'low', 3: 'default', normal: 'default', 4: 'high', 5: 'max', emergency: 'max' }
    },
    xtags: { label: 'Tags', type: 'list' },
    click: { label: 'Address opened by a tap', type: 'string' },
    avatar_url: { label: 'Address of an icon', type: 'string', pattern: HEADER_TEXT },
    delay: { label: 'Delay', type: 'string' },
    email: { label: 'Forward by e-mail to', type: 'string' }
  },
  dropped: ['image', 'mode', 'auth'],
  urlFields: ['schema', 'host', 'port', 'topic', 'targets'],
  rendering: { limits: { title: 250, text: 3800 }, takesLink: true },

  readNative (url) {
    const topic = /^\/([\w-]+)\/?$/.exec(url.pathname)?.[1]
    if (topic === undefined || !/^ntfy\./i.test(url.hostname)) return null
    if (url.hostname === 'ntfy.sh') return { schema: 'ntfys', topic }
    return { ...readOrigin({ plain: 'ntfy', secure: 'ntfys' }, url), targets: [topic] }
  },

  toRequests ({ text, list, origin, login }, { title, text: message, link, type }) {
    const topics = text('topic') === '' ? list('targets') : [text('topic')]
    const priority = text('priority') || (type === 'failure' ? 'high' : 'default')
    const headers = text('token') === '' ? login : { authorization: `Bearer ${text('token')}` }
    return topics.map((topic) => ({
      url: text('host') === '' ? CLOUD : origin,
      headers,
      json: {
        topic,
        title,
        message,
        priority: PRIORITIES.indexOf(priority) + 1,
        tags: [...TAGS[type], ...list('xtags')],
        click: text('click') || link || undefined,
        icon: text('avatar_url') || undefined,
        delay: text('delay') || undefined,
        email: text('email') || undefined
      }
    }))
  },

  isTaken: ({ json }) => typeof json.id === 'string'
})
