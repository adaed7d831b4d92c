import { ServiceDownError, readText } from '@svc/plugin-sdk'
import { type Ask, defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT, LOGIN_FIELDS } from '../service.ts'
import type { Values } from '../values.ts'

// Requests: https://spec.matrix.org/v1.11/client-server-api/ (login, join, send, intentional mentions)
const API = '/_matrix/client/v3'

export const matrix = defineService({
  name: 'Matrix',
  setupUrl: 'https://matrix.org/docs/chat_basics/matrix-for-im/',
  plain: ['matrix'],
  secure: ['matrixs'],
  templates: [`{user}:{password}@${HOST_PORT}/{targets}`, `{token}@${HOST_PORT}/{targets}`],
  fields: {
    ...HOST_FIELDS,
    ...LOGIN_FIELDS,
    token: { label: 'Access token', type: 'string', private: true, pattern: HEADER_TEXT },
    targets: { label: 'Rooms: #alias or !ID', type: 'list', required: true, pattern: /^[#!]?[^\s#!/]+$/ },
    msgtype: { label: 'Kind of message', type: 'choice', values: ['text', 'notice'], default: 'text' }
  },
  dropped: ['image', 'discovery', 'version', 'mode=off'],
  rendering: { limits: { title: 0, text: 15_000 }, mentions: true },

  async prepare (values, ask) {
    const token = values.text('token') || await logIn(values, ask)
    const targets: string[] = []
    for (const target of values.list('targets')) targets.push(await findRoom(values, token, target, ask))
    return { token, targets }
  },

  toRequests ({ text, list, origin }, { text: body, id }) {
    return list('targets').map((room) => ({
      // A message sent again under the same id is the same message.
      method: 'PUT',
      url: `${origin}${API}/rooms/${encodeURIComponent(room)}/send/m.room.message/${id}`,
      headers: { authorization: `Bearer ${text('token')}` },
      json: { msgtype: `m.${text('msgtype') || 'text'}`, body, 'm.mentions': {} }
    }))
  },

  isTaken: ({ json }) => typeof json.event_id === 'string'
})

/** Always as the same device: each login ends the session before it. */
async function logIn ({ text, origin }: Values, ask: Ask): Promise<string> {
  const { json } = await ask({
    url: `${origin}${API}/login`,
    json: {
      type: 'm.login.password',
      identifier: { type: 'm.id.user', user: text('user') },
      password: text('password'),
      device_id: 'SVCNOTIFY',
      initial_device_display_name: 'Svc'
    }
  })
  return readText(json, 'access_token') ?? giveUp('login without a token')
}

/** Joining is how an alias becomes an id; who is in the room already stays in it. */
async function findRoom ({ text, origin }: Values, token: string, target: string, ask: Ask): Promise<string> {
  if (target.startsWith('!')) return target
  const name = target.startsWith('#') ? target : `#${target}`
  const alias = name.includes(':') ? name : `${name}:${text('host')}`
  const { json } = await ask({
    url: `${origin}${API}/join/${encodeURIComponent(alias)}`,
    headers: { authorization: `Bearer ${token}` },
    json: {}
  })
  return readText(json, 'room_id') ?? giveUp('join without a room')
}

function giveUp (what: string): never {
  throw new ServiceDownError(`Matrix answered the ${what}; try again later`)
}
