import { toHexColor } from '../levels.ts'
import { defineService } from '../service.ts'
import { entities } from '../text.ts'

// Requests: https://api.slack.com/messaging/webhooks and https://api.slack.com/methods/chat.postMessage
const WEBHOOK_URL = 'https://hooks.slack.com/services'
const API_URL = 'https://slack.com/api/chat.postMessage'
const DEFAULT_CHANNEL = '#general'
const NATIVE = /^\/services\/(\w+)\/(\w+)\/(\w+)\/?$/
const PART = { type: 'string', private: true, pattern: /^[a-z0-9]+$/i } as const

export const slack = defineService({
  name: 'Slack',
  setupUrl: 'https://api.slack.com/messaging/webhooks',
  secure: ['slack'],
  templates: ['[{botname}@]{token_a}/{token_b}/{token_c}[/{targets}]', '{access_token}[/{targets}]'],
  fields: {
    token_a: { label: 'Webhook token A', ...PART },
    token_b: { label: 'Webhook token B', ...PART },
    token_c: { label: 'Webhook token C', ...PART },
    access_token: { label: 'OAuth access token', type: 'string', private: true, pattern: /^(?:xoxe\.)?xox[abp]-[a-z0-9-]+$/i },
    botname: { label: 'Bot name', type: 'string' },
    targets: { label: 'Channels (#), users (@) or IDs (+)', type: 'list', pattern: /^[+#@]?[\w-]{1,80}$/ }
  },
  dropped: ['image', 'footer', 'timestamp', 'blocks', 'mode=hook', 'mode=bot'],
  urlFields: ['token_a', 'token_b', 'token_c'],
  rendering: { limits: { title: 250, text: 7500 }, takesLink: true, mentions: true, escape: entities },

  readNative (url) {
    const [, a, b, c] = NATIVE.exec(url.pathname) ?? []
    return url.hostname === 'hooks.slack.com' && a !== undefined ? { token_a: a, token_b: b, token_c: c } : null
  },

  toRequests ({ text, list }, { title, text: body, link, type, time }) {
    const isBot = text('access_token') !== ''
    const headers: Record<string, string> = isBot ? { authorization: `Bearer ${text('access_token')}` } : {}
    const channels = list('targets').length > 0 ? list('targets') : [isBot ? DEFAULT_CHANNEL : undefined]
    // `mrkdwn_in` is empty: the text is shown as it is.
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
      url: isBot ? API_URL : `${WEBHOOK_URL}/${text('token_a')}/${text('token_b')}/${text('token_c')}`,
      headers,
      json: { channel: channel && toChannel(channel), username: text('botname') || undefined, attachments: [attachment] }
    }))
  },

  isTaken: ({ text, json }) => text.trim() === 'ok' || json.ok === true
})

/** IDs stand as they are; a bare name is that of a channel. */
function toChannel (target: string): string {
  if (target.startsWith('+')) return target.slice(1)
  return /^[#@]/.test(target) ? target : `#${target}`
}
