import { defineService } from '../service.ts'

// Request and limits: https://pushover.net/api
const API_URL = 'https://api.pushover.net/1/messages.json'
const PRIORITIES: Readonly<Record<string, number>> = { low: -2, moderate: -1, normal: 0, high: 1, emergency: 2 }
const KEY = /^[a-z0-9]{1,64}$/i

export const pushover = defineService({
  name: 'Pushover',
  setupUrl: 'https://pushover.net/apps/build',
  secure: ['pover'],
  templates: ['{user_key}@{token}[/{targets}]'],
  fields: {
    user_key: { label: 'User key', type: 'string', required: true, private: true, pattern: KEY },
    token: { label: 'Application token', type: 'string', required: true, private: true, pattern: KEY },
    targets: { label: 'Devices', type: 'list', pattern: /^[\w-]{1,25}$/ },
    priority: {
      label: 'Priority', type: 'choice', values: Object.keys(PRIORITIES),
      synonyms: {
        '-2': 'low',
        '-1': 'moderate',
        0: 'normal',
        1: 'high',
        2: 'emergency',
        l: 'low',
        m: 'moderate',
        n: 'normal',
        h: 'high',
        e: 'emergency',
        urgent: 'emergency'
      }
    },
    sound: { label: 'Sound', type: 'string', pattern: /^\w{1,20}$/ },
    url: { label: 'Address', type: 'string', pattern: /^.{1,512}$/ },
    url_title: { label: 'Title of the address', type: 'string', pattern: /^.{1,100}$/ },
    interval: { label: 'Seconds between repeats of an emergency', type: 'int', min: 30, default: 900 },
    expire: { label: 'Seconds until an emergency ends', type: 'int', min: 0, max: 10_800, default: 3600 }
  },
  aliases: { retry: 'interval' },
  rendering: { limits: { title: 250, text: 1024 }, hasLinkField: true },

  toRequests ({ text, list, number }, { title, text: message, link, type, time }) {
    const priority = text('priority') || (type === 'failure' ? 'high' : 'normal')
    const isEmergency = priority === 'emergency'
    return [{
      url: API_URL,
      json: {
        token: text('token'),
        user: text('user_key'),
        device: list('targets').join(',') || undefined,
        title,
        message,
        priority: PRIORITIES[priority],
        retry: isEmergency ? number('interval') ?? 900 : undefined,
        expire: isEmergency ? number('expire') ?? 3600 : undefined,
        sound: text('sound') || undefined,
        url: text('url') || link || undefined,
        url_title: text('url_title') || undefined,
        timestamp: time
      }
    }]
  },

  isAccepted: ({ json }) => json.status === 1
})
