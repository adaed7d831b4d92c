import { defineService, HEADER_TEXT } from '../service.ts'

// Request: https://docs.pushbullet.com/#create-push
const API_URL = 'https://api.pushbullet.com/v2/pushes'

export const pushbullet = defineService({
  name: 'Pushbullet',
  setupUrl: 'https://www.pushbullet.com/#settings/account',
  secure: ['pbul'],
  templates: ['{accesstoken}[/{targets}]'],
  fields: {
    accesstoken: { label: 'Access token', type: 'string', required: true, private: true, pattern: HEADER_TEXT },
    targets: { label: 'Devices, #channels or e-mail addresses', type: 'list' }
  },
  rendering: { hasLinkField: true },

  toRequests ({ text, list }, { title, text: body, link, id }) {
    const targets = list('targets').length > 0 ? list('targets') : [null]
    return targets.map((target) => ({
      url: API_URL,
      headers: { 'access-token': text('accesstoken') },
      json: {
        type: link === null ? 'note' : 'link',
        title,
        body,
        url: link ?? undefined,
        // Pushbullet detects a repeated push by this id.
        guid: target === null ? id : `${id}-${target}`,
        ...toReceiver(target)
      }
    }))
  },

  isAccepted: ({ json }) => typeof json.iden === 'string'
})

function toReceiver (target: string | null): Record<string, string> {
  if (target === null) return {}
  if (target.startsWith('#')) return { channel_tag: target.slice(1) }
  return target.includes('@') ? { email: target } : { device_iden: target }
}
