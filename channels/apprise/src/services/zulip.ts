import { defineService } from '../service.ts'
import { escapeBySpace } from '../text.ts'
import { basicLogin } from '../values.ts'

// Request: https://zulip.com/api/send-message, limits: https://zulip.com/api/register-queue (max_topic_length)
const CLOUD = 'zulipchat.com'
const DEFAULT_STREAM = 'general'

export const zulip = defineService({
  name: 'Zulip',
  setupUrl: 'https://zulip.com/help/add-a-bot-or-integration',
  secure: ['zulip'],
  templates: ['{botname}@{organization}/{token}[/{targets}]'],
  fields: {
    botname: { label: 'Bot name', type: 'string', required: true, pattern: /^[\w.-]{1,64}$/ },
    organization: { label: 'Organization, or host of the server', type: 'string', required: true, pattern: /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i },
    token: { label: 'API key of the bot', type: 'string', required: true, private: true, pattern: /^[a-z0-9]{32}$/i },
    targets: { label: 'Channels or e-mail addresses', type: 'list' }
  },
  // Zulip has no escapes; a disguised link needs `](`.
  rendering: { limits: { title: 60, text: 9900 }, hasMentions: true, escape: escapeBySpace(']') },

  toRequests ({ text, list }, { title, text: content }) {
    const host = text('organization').includes('.') ? text('organization') : `${text('organization')}.${CLOUD}`
    const bot = `${text('botname').replace(/-bot$/, '')}-bot@${host}`
    const targets = list('targets').length > 0 ? list('targets') : [DEFAULT_STREAM]
    return targets.map((target) => ({
      url: `https://${host}/api/v1/messages`,
      headers: basicLogin(bot, text('token')),
      form: toForm(target, title, content)
    }))
  },

  isAccepted: ({ json }) => json.result === 'success'
})

/** Addresses a person if the target is an e-mail address, else a channel with the title as topic. */
function toForm (target: string, title: string, content: string): Record<string, string> {
  if (/^[^@\s]+@[^@\s]+$/.test(target)) return { type: 'private', to: JSON.stringify([target]), content: `${title}\n\n${content}` }
  return { type: 'stream', to: target.replace(/^#/, ''), topic: title, content }
}
