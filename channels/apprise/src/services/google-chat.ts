import { defineService } from '../service.ts'
import { escapeBySpace } from '../text.ts'

// Request: https://developers.google.com/workspace/chat/quickstart/webhooks
// Marks in texts: https://developers.google.com/workspace/chat/format-messages
const API_URL = 'https://chat.googleapis.com/v1/spaces'
const SECRET = { type: 'string', private: true } as const

export const googleChat = defineService({
  name: 'Google Chat',
  setupUrl: 'https://developers.google.com/workspace/chat/quickstart/webhooks',
  secure: ['gchat'],
  templates: ['{workspace}/{webhook_key}/{webhook_token}[/{thread_key}]'],
  fields: {
    workspace: { label: 'Space', required: true, pattern: /^[\w-]+$/, ...SECRET },
    webhook_key: { label: 'Webhook key', required: true, ...SECRET },
    webhook_token: { label: 'Webhook token', required: true, ...SECRET },
    thread_key: { label: 'Thread key', ...SECRET }
  },
  aliases: { key: 'webhook_key', token: 'webhook_token', thread: 'thread_key', threadkey: 'thread_key' },
  nativeQuery: ['key', 'token', 'threadkey', 'messagereplyoption'],
  urlFields: ['workspace', 'webhook_key', 'webhook_token', 'thread_key'],
  // Google Chat has no escapes; every mark that notifies people or names a link begins with `<`.
  rendering: { limits: { title: 0, text: 4000 }, escape: escapeBySpace('<') },

  readNative (url) {
    const workspace = /^\/v1\/spaces\/([\w-]+)\/messages\/?$/.exec(url.pathname)?.[1]
    if (workspace === undefined || url.hostname !== 'chat.googleapis.com') return null
    const query = (name: string) => url.searchParams.get(name)
    return { workspace, webhook_key: query('key'), webhook_token: query('token'), thread_key: query('threadKey') }
  },

  toRequests ({ text }, { text: message }) {
    const thread = text('thread_key')
    return [{
      url: `${API_URL}/${text('workspace')}/messages`,
      query: {
        key: text('webhook_key'),
        token: text('webhook_token'),
        messageReplyOption: thread === '' ? undefined : 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD'
      },
      json: { text: message, thread: thread === '' ? undefined : { threadKey: thread } }
    }]
  },

  isAccepted: ({ json }) => typeof json.name === 'string'
})
