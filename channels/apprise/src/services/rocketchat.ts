import { ServiceDownError } from '@svc/plugin-sdk'
import { isFields, readText } from '@svc/plugin-sdk/readers'
import { defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT, readOrigin } from '../service.ts'
import { escapeBySpace } from '../text.ts'
import type { Values } from '../values.ts'

// Requests: https://docs.rocket.chat/docs/integrations (webhook) and
// https://developer.rocket.chat/apidocs/post-message
const EMPTY_FIELDS = {}

export const rocketchat = defineService({
  name: 'Rocket.Chat',
  setupUrl: 'https://docs.rocket.chat/docs/integrations',
  plain: ['rocket'],
  secure: ['rockets'],
  templates: [`{webhook}@${HOST_PORT}[/{targets}]`, `{user}:{token}@${HOST_PORT}/{targets}`, `{user}:{password}@${HOST_PORT}/{targets}`],
  fields: {
    ...HOST_FIELDS,
    webhook: { label: 'Webhook (two parts with a slash)', type: 'string', private: true, slashes: true, pattern: /^\w+\/\w+$/ },
    user: { label: 'User name, or user ID of a token', type: 'string', pattern: HEADER_TEXT },
    token: { label: 'Personal access token', type: 'string', private: true, pattern: /^[\w-]{33,}$/ },
    password: { label: 'Password', type: 'string', private: true, pattern: /^.{1,32}$/ },
    targets: { label: '#channels, @users or room IDs', type: 'list', pattern: /^[#@]?[\w.-]+$/ }
  },
  defaultOptions: ['avatar=no', 'mode=webhook', 'mode=token', 'mode=basic'],
  urlFields: ['schema', 'host', 'port', 'webhook'],
  // Not all versions support backslashes, so only the marks that disguise a link are broken up.
  rendering: { limits: { title: 0, text: 5000 }, hasMentions: true, escape: escapeBySpace('<]') },

  readNative (url) {
    const webhook = /^\/hooks\/(\w+\/\w+)\/?$/.exec(url.pathname)?.[1]
    return webhook === undefined ? null : { ...readOrigin({ plain: 'rocket', secure: 'rockets' }, url), webhook }
  },

  async prepare ({ text, origin }, ask) {
    if (text('password') === '') return EMPTY_FIELDS
    const { json } = await ask({
      url: `${origin}/api/v1/login`, json: { user: text('user'), password: text('password') }
    })
    const data = isFields(json.data) ? json.data : {}
    const [user, token] = [readText(data, 'userId'), readText(data, 'authToken')]
    if (user !== undefined && token !== undefined) return { user, token }
    throw new ServiceDownError('Rocket.Chat answered the login without a token; try again later')
  },

  async finish ({ text, origin }, ask) {
    if (text('password') === '') return
    await ask({ url: `${origin}/api/v1/logout`, headers: toLogin(text) })
  },

  toRequests ({ text, list, origin }, { text: message }) {
    if (text('webhook') === '') {
      const headers = toLogin(text)
      return list('targets').map((target) => ({
        url: `${origin}/api/v1/chat.postMessage`, headers, json: { ...toRoom(target), text: message }
      }))
    }
    const targets = list('targets').length > 0 ? list('targets') : [undefined]
    return targets.map((channel) => ({ url: `${origin}/hooks/${text('webhook')}`, json: { text: message, channel } }))
  },

  isAccepted: ({ json }) => json.success === true
})

function toLogin (text: Values['text']): Record<string, string> {
  return { 'x-user-id': text('user'), 'x-auth-token': text('token') }
}

function toRoom (target: string): Record<string, string> {
  return /^[#@]/.test(target) ? { channel: target } : { roomId: target }
}
