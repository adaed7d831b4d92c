import { defineService } from '../service.ts'

// Request: https://core.telegram.org/bots/api#sendmessage. Without `parse_mode` the text is shown unchanged.
const API_URL = 'https://api.telegram.org'
const NATIVE = /^\/(bot\d+:[\w-]+)\/sendMessage$/i

export const telegram = defineService({
  name: 'Telegram',
  setupUrl: 'https://core.telegram.org/bots#how-do-i-create-a-bot',
  secure: ['tgram'],
  templates: ['{bot_token}/{targets}'],
  fields: {
    bot_token: { label: 'Bot token', type: 'string', required: true, private: true, pattern: /^(?:bot)?\d+:[\w-]+$/i },
    targets: {
      label: 'Chats: numbers or @names, with :topic', type: 'list', required: true,
      pattern: /^(?:-?\d{1,32}|@?[a-z]\w{3,})(?::\d+)?$/i
    },
    silent: { label: 'Silent', type: 'bool', default: false },
    preview: { label: 'Preview of links', type: 'bool', default: false },
    topic: { label: 'Topic', type: 'int', min: 1 }
  },
  aliases: { thread: 'topic' },
  defaultOptions: ['image=no', 'detect=no', 'content=before'],
  nativeQuery: ['chat_id'],
  urlFields: ['bot_token', 'targets'],
  rendering: { limits: { title: 0, text: 4096 }, hasMentions: true },

  readNative (url) {
    const [, token] = url.hostname === 'api.telegram.org' ? NATIVE.exec(url.pathname) ?? [] : []
    return token === undefined ? null : { bot_token: token, targets: url.searchParams.getAll('chat_id') }
  },

  toRequests ({ text, list, flag, number }, { text: message }) {
    const token = text('bot_token').replace(/^bot/i, '')
    return list('targets').map((target) => {
      const [chat = '', topic] = target.split(':')
      return {
        url: `${API_URL}/bot${token}/sendMessage`,
        json: {
          chat_id: toChatId(chat),
          message_thread_id: topic === undefined ? number('topic') ?? undefined : Number(topic),
          text: message,
          disable_notification: flag('silent'),
          link_preview_options: { is_disabled: !flag('preview') }
        }
      }
    })
  },

  isAccepted: ({ json }) => json.ok === true
})

function toChatId (chat: string): string {
  return /^[-@\d]/.test(chat) ? chat : `@${chat}`
}
