import { toHexColor } from '../levels.ts'
import { DeliveryRefusedError } from '@svc/plugin-sdk'
import { isFields, readText } from '@svc/plugin-sdk/readers'
import { invalidField } from '../fields.ts'
import { type SendRequest, defineService } from '../service.ts'
import { escapeEntities } from '../text.ts'
import { optionOf, splitLogin, withoutOptions } from '../url.ts'

// Requests: https://api.slack.com/messaging/webhooks and https://api.slack.com/methods/chat.postMessage
const WEBHOOK_URL = 'https://hooks.slack.com/services'
const API_URL = 'https://slack.com/api'
const MAIL_ADDRESS = /^[^\s@]+@[^\s@/]+\.[^\s@/]+$/
const EMPTY_FIELDS = {}
const DEFAULT_CHANNEL = '#general'
const NATIVE = /^\/services\/(\w+)\/(\w+)\/(\w+)\/?$/
const PART = { type: 'string', private: true, pattern: /^[a-z0-9]+$/i } as const

export const slack = defineService({
  name: 'Slack',
  setupUrl: 'https://api.slack.com/messaging/webhooks',
  secure: ['slack'],
  templates: ['[{botname}@]{token_a}/{token_b}/{token_c}[/{targets}]', '[{botname}@]{access_token}[/{targets}]'],
  fields: {
    token_a: { label: 'Webhook token A', ...PART },
    token_b: { label: 'Webhook token B', ...PART },
    token_c: { label: 'Webhook token C', ...PART },
    // Its hyphen tells an access token with two targets from the three parts of a webhook.
    access_token: { label: 'OAuth access token', type: 'string', private: true, pattern: /^(?:xoxe\.)?xox[abp]-[a-z0-9-]+$/i },
    botname: { label: 'Bot name', type: 'string' },
    targets: { label: 'Channels (#), users (@), e-mail addresses or IDs (+)', type: 'list', pattern: /^(?:[+#@]?[\w-]{1,80}|[^\s@/]+@[^\s@/]+\.[^\s@/]+)$/ }
  },
  defaultOptions: ['image=no', 'footer=no', 'timestamp=yes', 'blocks=no', 'mode=hook', 'mode=bot'],
  urlFields: ['token_a', 'token_b', 'token_c'],
  rendering: { limits: { title: 250, text: 7500 }, hasLinkField: true, hasMentions: true, escape: escapeEntities },

  readNative (url) {
    const [, a, b, c] = NATIVE.exec(url.pathname) ?? []
    return url.hostname === 'hooks.slack.com' && a !== undefined ? { token_a: a, token_b: b, token_c: c } : null
  },

  /** Moves the token of `slack://?token=A/B/C` from the option into the path. */
  rewrite (raw) {
    const token = optionOf(raw, 'token')
    if (token === null) return raw
    const [login, address] = splitLogin(raw.rest)
    const rest = [token, address].map((part) => part.replace(/^\/+|\/+$/g, '')).filter((part) => part !== '').join('/')
    return { ...raw, rest: login === '' ? rest : `${login}@${rest}`, query: withoutOptions(raw, ['token']) }
  },

  async prepare ({ text, list }, ask) {
    if (text('access_token') === '') return EMPTY_FIELDS
    const targets: string[] = []
    for (const target of list('targets')) {
      targets.push(MAIL_ADDRESS.test(target) ? `+${await findPerson(text('access_token'), target, ask)}` : target)
    }
    return targets.length === 0 ? EMPTY_FIELDS : { targets }
  },

  toRequests ({ text, list }, { title, text: body, link, type, time }) {
    const isBot = text('access_token') !== ''
    const headers: Record<string, string> = isBot ? { authorization: `Bearer ${text('access_token')}` } : {}
    if (!isBot && list('targets').some((target) => MAIL_ADDRESS.test(target))) {
      throw invalidField(slack, 'finds people by their e-mail address only with an access token', 'name them by @ or use a token')
    }
    const channels = list('targets').length > 0 ? list('targets') : [isBot ? DEFAULT_CHANNEL : undefined]
    // An empty `mrkdwn_in` shows the text unchanged.
    const attachment = {
      fallback: title,
      color: toHexColor(type),
      title,
      title_link: link ?? undefined,
      text: body,
      ts: time,
      mrkdwn_in: []
    }
    return channels.map((channel) => ({
      url: isBot ? `${API_URL}/chat.postMessage` : `${WEBHOOK_URL}/${text('token_a')}/${text('token_b')}/${text('token_c')}`,
      headers,
      json: { channel: channel && toChannel(channel), username: text('botname') || undefined, attachments: [attachment] }
    }))
  },

  isAccepted: ({ text, json }) => text.trim() === 'ok' || json.ok === true
})

async function findPerson (token: string, email: string, ask: SendRequest): Promise<string> {
  const { json } = await ask({
    method: 'GET', url: `${API_URL}/users.lookupByEmail`, query: { email }, headers: { authorization: `Bearer ${token}` }
  })
  const id = isFields(json.user) ? readText(json.user, 'id') : undefined
  if (id !== undefined) return id
  throw new DeliveryRefusedError(`Slack finds nobody by one of the e-mail addresses (${readText(json, 'error') ?? 'no reason given'}); ` +
    'correct it, or give the token the scope users:read.email')
}

/** Converts a target: IDs stay unchanged; a bare name is a channel. */
function toChannel (target: string): string {
  if (target.startsWith('+')) return target.slice(1)
  return /^[#@]/.test(target) ? target : `#${target}`
}
