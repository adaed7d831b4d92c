import { defineService, HOST_FIELDS, HOST_PORT, LOGIN, LOGIN_FIELDS } from '../service.ts'

// Request: https://bbernhard.github.io/signal-cli-rest-api/ (POST /v2/send; its text_mode is plain by default)
const GROUP = 'group.'
const PHONE = /^\+?[0-9() -]{3,32}$/

export const signal = defineService({
  name: 'Signal API',
  setupUrl: 'https://github.com/bbernhard/signal-cli-rest-api',
  plain: ['signal'],
  secure: ['signals'],
  templates: [`${LOGIN}${HOST_PORT}/{from_phone}[/{targets}]`],
  fields: {
    ...HOST_FIELDS,
    ...LOGIN_FIELDS,
    from_phone: { label: 'From phone number', type: 'string', required: true, pattern: PHONE },
    targets: { label: 'Phone numbers or @groups', type: 'list', pattern: /^(?:\+?[0-9() -]{3,32}|@?group\.[\w=+/-]+|@[\w=+/-]+)$/ }
  },
  aliases: { from: 'from_phone' },
  defaultOptions: ['status=no', 'batch=yes'],
  rendering: { limits: { title: 0, text: 32_000 } },

  toRequests ({ text, list, origin, login }, { text: message }) {
    const number = toReceiver(text('from_phone'))
    const targets = list('targets').map(toReceiver)
    const groups = targets.filter((target) => target.startsWith(GROUP))
    const numbers = targets.filter((target) => !target.startsWith(GROUP))
    // The server refuses a group beside numbers or other groups, so each group is a separate request.
    const receivers = [numbers, ...groups.map((group) => [group])].filter((recipients) => recipients.length > 0)
    return (receivers.length > 0 ? receivers : [[number]]).map((recipients) => ({
      url: `${origin}/v2/send`, headers: login, json: { message, number, recipients }
    }))
  }
})

function toReceiver (target: string): string {
  if (PHONE.test(target)) return `+${target.replace(/\D/g, '')}`
  return `${GROUP}${target.replace(/^@?(?:group\.)?/, '')}`
}
