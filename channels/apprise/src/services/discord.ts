import { COLORS } from '../levels.ts'
import { defineService } from '../service.ts'
import { escapeByBackslash } from '../text.ts'

// Request: https://discord.com/developers/docs/resources/webhook#execute-webhook
// Limits: https://discord.com/developers/docs/resources/message#embed-object-embed-limits
const WEBHOOK_URL = 'https://discord.com/api/webhooks'
const NATIVE = /^\/api\/(?:v\d+\/)?webhooks\/(\d+)\/([\w-]+)\/?$/

export const discord = defineService({
  name: 'Discord',
  setupUrl: 'https://support.discord.com/hc/en-us/articles/228383668',
  secure: ['discord'],
  templates: ['[{botname}@]{webhook_id}/{webhook_token}'],
  fields: {
    webhook_id: { label: 'Webhook ID', type: 'string', required: true, private: true, pattern: /^\d+$/ },
    webhook_token: { label: 'Webhook token', type: 'string', required: true, private: true, pattern: /^[\w-]+$/ },
    botname: { label: 'Bot name', type: 'string', pattern: /^.{1,80}$/ },
    avatar_url: { label: 'Address of an avatar', type: 'string' },
    href: { label: 'Address the title links to', type: 'string' },
    thread: { label: 'Thread ID', type: 'string', pattern: /^\d+$/ },
    tts: { label: 'Text to speech', type: 'bool', default: false },
    flags: { label: 'Flags', type: 'int', min: 0 }
  },
  aliases: { url: 'href' },
  defaultOptions: ['avatar=no', 'footer=no', 'footer_logo=no', 'image=no', 'fields=no'],
  urlFields: ['webhook_id', 'webhook_token'],
  rendering: { limits: { title: 256, text: 4096 }, hasLinkField: true, hasMentions: true, escape: escapeByBackslash('\\*_~`|>#[]()<-') },

  readNative (url) {
    const [, id, token] = NATIVE.exec(url.pathname) ?? []
    if (id === undefined || !/^(?:[a-z]+\.)?discord(?:app)?\.com$/.test(url.hostname)) return null
    return { webhook_id: id, webhook_token: token }
  },

  toRequests ({ text, flag, number }, { title, text: description, link, type, time }) {
    return [{
      url: `${WEBHOOK_URL}/${text('webhook_id')}/${text('webhook_token')}`,
      query: { wait: true, thread_id: text('thread') || undefined },
      json: {
        username: text('botname') || undefined,
        avatar_url: text('avatar_url') || undefined,
        tts: flag('tts'),
        flags: number('flags') ?? undefined,
        // No mention in the text notifies anybody.
        allowed_mentions: { parse: [] },
        embeds: [{
          title,
          description,
          color: COLORS[type],
          url: text('href') || link || undefined,
          timestamp: new Date(time * 1000).toISOString()
        }]
      }
    }]
  },

  isAccepted: ({ json }) => typeof json.id === 'string'
})
