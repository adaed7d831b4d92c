import { HttpStatusError, ServiceDownError } from '@svc/plugin-sdk'
import { readFields, readText } from '@svc/plugin-sdk/readers'
import { invalidField } from '../fields.ts'
import { toHexColor } from '../levels.ts'
import type { Message } from '../render.ts'
import { type SendRequest, defineService, HEADER_TEXT, HOST_FIELDS, HOST_PORT, LOGIN_FIELDS, type ServiceRequest } from '../service.ts'
import { optionOf, splitLogin, withoutOptions } from '../url.ts'
import type { Values } from '../values.ts'

// Requests: https://spec.matrix.org/v1.11/client-server-api/ (discovery, login, join, send, intentional mentions)
// Webhooks: https://github.com/turt2live/matrix-appservice-webhooks, and https://t2bot.io/webhooks/ which runs it
const API = '/_matrix/client/v3'
const HOOK = '/api/v1/matrix/hook'
const EMPTY_BODY = {}
const T2BOT = 'webhooks.t2bot.io'
const T2BOT_TOKEN = /^\w{64}$/
/** An id without a server, as room version 12 and later have. */
const BARE_ID = /^![\w-]{43}$/

export const matrix = defineService({
  name: 'Matrix',
  setupUrl: 'https://matrix.org/docs/chat_basics/matrix-for-im/',
  plain: ['matrix'],
  secure: ['matrixs'],
  templates: [`{user}:{password}@${HOST_PORT}/{targets}`, `{token}@${HOST_PORT}[/{targets}]`],
  fields: {
    ...HOST_FIELDS,
    user: { label: 'Username', type: 'string' },
    password: LOGIN_FIELDS.password,
    token: { label: 'Access token, or token of a webhook', type: 'string', private: true, pattern: HEADER_TEXT },
    targets: { label: 'Rooms: #alias or !ID', type: 'list', pattern: /^[#!]?[^\s#!/]+$/ },
    msgtype: { label: 'Kind of message', type: 'choice', values: ['text', 'notice'], default: 'text' },
    mode: { label: 'Webhook and its format', type: 'choice', values: ['off', 'matrix', 'slack'], default: 'off' },
    discovery: { label: 'Look up the address of the server', type: 'bool', default: true }
  },
  defaultOptions: ['image=no', 'version=3', 'version=v3'],
  urlFields: ['schema', 'host', 'token', 'mode'],
  rendering: { limits: { title: 0, text: 15_000 }, hasMentions: true },

  readNative (url) {
    const token = url.hostname === T2BOT ? /^\/api\/v1\/matrix\/hook\/(\w+)\/?$/.exec(url.pathname)?.[1] : undefined
    return token === undefined ? null : { schema: 'matrixs', host: T2BOT, token, mode: 'matrix' }
  },

  rewrite (raw) {
    const [login, address] = splitLogin(raw.rest)
    const alone = login === '' ? address.replace(/\/+$/, '') : ''
    const mode = optionOf(raw, 'mode')
    if (mode !== 't2bot' && (mode !== null || !T2BOT_TOKEN.test(alone))) return raw
    const token = alone || login.split(':').at(-1) || ''
    return { schema: 'matrixs', rest: `${token}@${T2BOT}`, query: `mode=matrix&${withoutOptions(raw, ['mode'])}` }
  },

  async prepare (values, ask) {
    if (isWebhook(values)) return EMPTY_BODY
    const base = await discover(values, ask)
    const session = values.text('token') === '' ? await logIn(values, base, ask) : { token: values.text('token'), userId: '' }
    const targets: string[] = []
    for (const target of values.list('targets')) targets.push(await join(base, session, target, ask))
    return { base, token: session.token, targets }
  },

  toRequests (values, message) {
    if (isWebhook(values)) return [toHookRequest(values, message)]
    const { text, list, origin } = values
    if (list('targets').length === 0) throw invalidField(matrix, 'needs a room', 'add one, such as #games')
    return list('targets').map((room) => ({
      // Matrix ignores a repeated message with the same id.
      method: 'PUT',
      url: `${text('base') || origin}${API}/rooms/${encodeURIComponent(room)}/send/m.room.message/${message.id}`,
      headers: { authorization: `Bearer ${text('token')}` },
      json: { msgtype: `m.${text('msgtype') || 'text'}`, body: message.text, 'm.mentions': {} }
    }))
  },

  isAccepted: ({ json }) => typeof json.event_id === 'string' || json.success === true
})

function isWebhook ({ text }: Values): boolean {
  return text('mode') === 'matrix' || text('mode') === 'slack'
}

function toHookRequest ({ text, list, origin }: Values, { text: body, type }: Message): ServiceRequest {
  if (list('targets').length > 0) throw invalidField(matrix, 'posts to the one room of its webhook', 'remove the rooms')
  // A webhook needs only the second part of a login.
  const url = `${origin}${HOOK}/${encodeURIComponent(text('token') || text('password'))}`
  return text('mode') === 'slack'
    ? { url, json: { username: 'Svc', mrkdwn: false, attachments: [{ text: body, color: toHexColor(type) }] } }
    : { url, json: { displayName: 'Svc', format: 'plain', text: body } }
}

/** Finds the server of the host's accounts. The host's own statement counts over TLS only. */
async function discover ({ text, flag, origin }: Values, ask: SendRequest): Promise<string> {
  if (!origin.startsWith('https:') || text('password') === '' || !flag('discovery')) return origin
  try {
    const { json } = await ask({
      method: 'GET', url: `https://${text('host')}/.well-known/matrix/client`, headers: { accept: 'application/json' }
    })
    const base = readText(readFields(json, 'm.homeserver') ?? {}, 'base_url') ?? ''
    return /^https:/.test(base) && URL.canParse(base) ? base.replace(/\/+$/, '') : origin
  } catch (err) {
    // Without a statement the host is the server itself.
    if (err instanceof HttpStatusError) return origin
    throw err
  }
}

interface Session { readonly token: string, readonly userId: string }

/** Logs in as the same device every time, because each login then ends the previous session. */
async function logIn ({ text }: Values, base: string, ask: SendRequest): Promise<Session> {
  const { json } = await ask({
    url: `${base}${API}/login`,
    json: {
      type: 'm.login.password',
      identifier: { type: 'm.id.user', user: text('user') },
      password: text('password'),
      device_id: 'SVCNOTIFY',
      initial_device_display_name: 'Svc'
    }
  })
  return { token: readText(json, 'access_token') ?? throwInvalid('login without a token'), userId: readText(json, 'user_id') ?? '' }
}

/** Joins a room, because this turns an alias into an id; a member stays a member. */
async function join (base: string, session: Session, target: string, ask: SendRequest): Promise<string> {
  const headers = { authorization: `Bearer ${session.token}` }
  const name = /^[#!]/.test(target) ? target : `#${target}`
  const isWhole = name.includes(':') || BARE_ID.test(name)
  const room = isWhole ? name : `${name}:${await findServerName(base, session, ask)}`
  const { json } = await ask({ url: `${base}${API}/join/${encodeURIComponent(room)}`, headers, json: {} })
  return readText(json, 'room_id') ?? throwInvalid('join without a room')
}

/** Returns the server name of the account, which may differ from the host. */
async function findServerName (base: string, { token, userId }: Session, ask: SendRequest): Promise<string> {
  const id = userId !== ''
    ? userId
    : readText((await ask({
      method: 'GET', url: `${base}${API}/account/whoami`, headers: { authorization: `Bearer ${token}` }
    })).json, 'user_id') ?? ''
  const at = id.indexOf(':')
  return at === -1 ? throwInvalid('request for the user of the token without a user') : id.slice(at + 1)
}

function throwInvalid (what: string): never {
  throw new ServiceDownError(`Matrix answered the ${what}; try again later`)
}
