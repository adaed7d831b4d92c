import { defineService, HOST_FIELDS, HOST_PORT, LOGIN_FIELDS, readOrigin } from '../service.ts'

// Request: https://github.com/Finb/bark-server/blob/master/docs/API_V2.md. A push holds 4 KiB of UTF-8.
const CLOUD = 'api.day.app'

export const bark = defineService({
  name: 'Bark',
  setupUrl: 'https://github.com/Finb/Bark',
  plain: ['bark'],
  secure: ['barks'],
  templates: [`[{user}:{password}@]${HOST_PORT}/{targets}`],
  fields: {
    ...HOST_FIELDS,
    ...LOGIN_FIELDS,
    targets: { label: 'Device keys', type: 'list', required: true, private: true },
    sound: { label: 'Sound', type: 'string' },
    level: { label: 'Level', type: 'choice', values: ['active', 'timeSensitive', 'passive', 'critical'] },
    click: { label: 'Address opened by a tap', type: 'string' },
    badge: { label: 'Badge', type: 'int', min: 0 },
    category: { label: 'Category', type: 'string' },
    group: { label: 'Group', type: 'string' },
    icon: { label: 'Address of an icon', type: 'string', pattern: /^https?:/ },
    volume: { label: 'Volume of a critical alert', type: 'int', min: 0, max: 10 },
    call: { label: 'Ring for half a minute', type: 'bool', default: false }
  },
  defaultOptions: ['image=no'],
  urlFields: ['schema', 'host', 'targets'],
  rendering: { limits: { title: 200, text: 900 }, hasLinkField: true },

  readNative (url) {
    const key = url.hostname === CLOUD ? /^\/(\w+)(?:\/|$)/.exec(url.pathname)?.[1] : undefined
    return key === undefined ? null : { ...readOrigin({ plain: 'bark', secure: 'barks' }, url), targets: [key] }
  },

  toRequests ({ text, list, number, flag, origin, login }, { title, text: body, link, type }) {
    return list('targets').map((key) => ({
      url: `${origin}/push`,
      headers: login,
      json: {
        device_key: key,
        title,
        body,
        url: text('click') || link || undefined,
        level: text('level') || (type === 'failure' ? 'timeSensitive' : undefined),
        sound: text('sound') || undefined,
        badge: number('badge') ?? undefined,
        category: text('category') || undefined,
        group: text('group') || undefined,
        icon: text('icon') || undefined,
        volume: number('volume') ?? undefined,
        call: flag('call') ? '1' : undefined
      }
    }))
  },

  isAccepted: ({ json }) => json.code === 200
})
