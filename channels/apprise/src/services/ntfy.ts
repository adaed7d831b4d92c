import type { RawUrl } from '../form.ts'
import type { MessageType } from '../render.ts'
import { defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT, LOGIN, LOGIN_FIELDS, readOrigin } from '../service.ts'
import { optionOf, splitLogin, withoutOptions } from '../url.ts'

// Request: https://docs.ntfy.sh/publish/#publish-as-json
const CLOUD = 'ntfy.sh'
const TOPIC = /^[a-z0-9_-]{1,64}$/i
const PRIORITIES = ['min', 'low', 'default', 'high', 'max']
// ntfy turns these words into symbols: https://docs.ntfy.sh/emojis/
const TAGS: Record<MessageType, string[]> = { info: [], success: ['white_check_mark'], warning: ['warning'], failure: ['rotating_light'] }

export const ntfy = defineService({
  name: 'ntfy',
  setupUrl: 'https://docs.ntfy.sh/subscribe/phone/',
  plain: ['ntfy'],
  secure: ['ntfys'],
  templates: [`${LOGIN}{topic}`, `${LOGIN}${HOST_PORT}/{targets}`],
  fields: {
    host: { ...HOST_FIELDS.host, required: false },
    port: HOST_FIELDS.port,
    ...LOGIN_FIELDS,
    token: { label: 'Access token', type: 'string', private: true, pattern: HEADER_TEXT },
    topic: { label: 'Topic at ntfy.sh', type: 'string', pattern: TOPIC },
    targets: { label: 'Topics', type: 'list', pattern: TOPIC },
    priority: {
      label: 'Priority', type: 'choice', values: PRIORITIES,
      synonyms: {
        1: 'min',
        2: 'low',
        3: 'default',
        4: 'high',
        5: 'max',
        l: 'low',
        moderate: 'low',
        n: 'default',
        normal: 'default',
        h: 'high',
        e: 'max',
        emergency: 'max',
        urgent: 'max'
      }
    },
    xtags: { label: 'Tags', type: 'list' },
    click: { label: 'Address opened by a tap', type: 'string' },
    avatar_url: { label: 'Address of an icon', type: 'string', pattern: HEADER_TEXT },
    delay: { label: 'Delay', type: 'string' },
    email: { label: 'Forward by e-mail to', type: 'string' },
    attach: { label: 'Address of a file to attach', type: 'string', pattern: /^https?:/ },
    filename: { label: 'Name of the attached file', type: 'string' }
  },
  aliases: { tags: 'xtags' },
  defaultOptions: ['image=no', 'mode=private', 'auth=basic'],
  urlFields: ['schema', 'host', 'port', 'topic', 'targets'],
  rendering: { limits: { title: 250, text: 3800 }, hasLinkField: true },

  readNative (url) {
    const path = /^\/([\w-]+(?:\/[\w-]+)*)\/?$/.exec(url.pathname)?.[1]
    if (path === undefined || !/^ntfy\./i.test(url.hostname)) return null
    const targets = path.split('/')
    if (url.hostname === CLOUD && targets.length === 1) return { schema: 'ntfys', topic: path }
    return { ...readOrigin({ plain: 'ntfy', secure: 'ntfys' }, url), targets }
  },

  rewrite (raw) {
    const { login, token } = readLogin(raw)
    const [, address] = splitLogin(raw.rest)
    const isCloud = optionOf(raw, 'mode') === 'cloud'
    const readOptions = [...(isCloud ? ['mode'] : []), ...(optionOf(raw, 'auth') === 'token' ? ['auth'] : [])]
    const query = [withoutOptions(raw, readOptions), ...(token === '' ? [] : [`token=${token}`])].filter((part) => part !== '').join('&')
    return {
      schema: isCloud ? 'ntfys' : raw.schema,
      rest: `${login === '' ? '' : `${login}@`}${isCloud ? `${CLOUD}/` : ''}${address}`,
      query
    }
  },

  toRequests ({ text, list, origin, login }, { title, text: message, link, type }) {
    const topics = text('topic') === '' ? list('targets') : [text('topic')]
    const priority = text('priority') || (type === 'failure' ? 'high' : 'default')
    const headers = text('token') === '' ? login : { authorization: `Bearer ${text('token')}` }
    return topics.map((topic) => ({
      url: text('host') === '' ? `https://${CLOUD}` : origin,
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
        email: text('email') || undefined,
        attach: text('attach') || undefined,
        filename: text('filename') || undefined
      }
    }))
  },

  isAccepted: ({ json }) => typeof json.id === 'string'
})

/** Reads a login or a token before the host. A prefix or an option marks a token, which is the second part of two. */
function readLogin (raw: RawUrl): { login: string, token: string } {
  const [given] = splitLogin(raw.rest)
  const isToken = given !== '' && (/^tk_[^:]*$/.test(given) || optionOf(raw, 'auth') === 'token')
  return isToken ? { login: '', token: given.split(':').at(-1) ?? '' } : { login: given, token: '' }
}
