import { defineService, HOST_FIELDS, HOST_PORT, PATH, readOrigin } from '../service.ts'
import { escapeByBackslash } from '../text.ts'

// Request: https://developers.mattermost.com/integrate/webhooks/incoming/
export const mattermost = defineService({
  name: 'Mattermost',
  setupUrl: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
  plain: ['mmost'],
  secure: ['mmosts'],
  templates: [`[{botname}@]${HOST_PORT}[/{fullpath}]/{token}`],
  fields: {
    ...HOST_FIELDS,
    fullpath: PATH,
    token: { label: 'Webhook token', type: 'string', required: true, private: true, pattern: /^[a-z0-9]+$/i },
    botname: { label: 'Bot name', type: 'string' },
    icon_url: { label: 'Address of an icon', type: 'string', pattern: /^https?:/ },
    channels: { label: 'Channels', type: 'list', pattern: /^[#@]?[\w.-]+$/ }
  },
  aliases: { channel: 'channels', to: 'channels' },
  defaultOptions: ['image=no'],
  urlFields: ['schema', 'host', 'port', 'fullpath', 'token'],
  rendering: { limits: { title: 0, text: 4000 }, hasMentions: true, escape: escapeByBackslash('\\*_~`#>|[]()!-') },

  readNative (url) {
    const [, path, token] = /^(?:\/(.+))?\/hooks\/([a-z0-9]{26})\/?$/.exec(url.pathname) ?? []
    if (token === undefined) return null
    return { ...readOrigin({ plain: 'mmost', secure: 'mmosts' }, url), token, fullpath: path }
  },

  toRequests ({ text, list, origin }, { text: message }) {
    const channels = list('channels').length > 0 ? list('channels') : [undefined]
    const path = text('fullpath') === '' ? '' : `/${text('fullpath')}`
    return channels.map((channel) => ({
      url: `${origin}${path}/hooks/${text('token')}`,
      json: {
        text: message,
        channel: channel?.replace(/^#/, ''),
        username: text('botname') || undefined,
        icon_url: text('icon_url') || undefined
      }
    }))
  },

  isAccepted: ({ text }) => text.trim() === 'ok'
})
