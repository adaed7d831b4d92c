import { readFileSync } from 'node:fs'
import { createNotification, createPluginContext, type PlannedResponse, type RecordedRequest } from '@svc/plugin-sdk/testing'
import t from 'tap'
import channel from '../src/index.ts'
import { parse } from './support.ts'

// The requests of the Apprise library itself, recorded by recorded/record.py.

interface Recorded {
  method: string
  url: string
  headers: Record<string, string>
  json?: Record<string, unknown>
  /** Fields of a form or an XML document. */
  fields?: [string, string][]
}
interface Row { url: string, requests: Recorded[] | null }

const { rows } = JSON.parse(readFileSync(new URL('./recorded/requests.json', import.meta.url), 'utf8')) as { rows: Row[] }
const BODY = 'Nine new games'

/** The responses that record.py gives. */
const ANSWERS: PlannedResponse[] = [
  { url: '*hooks.slack.com*', text: 'ok' },
  { url: '*chat.example/hooks/3*', text: 'ok' },
  { url: '*chat.example:8065/*', text: 'ok' },
  { url: '*/api/v1/login', json: { status: 'success', data: { userId: 'u1', authToken: 't1' } } },
  { url: '*/.well-known/matrix/client', json: { 'm.homeserver': { base_url: 'https://home.account.example' } } },
  { url: '*api.pushover.net*', json: { status: 1 } },
  { url: '*gotify.example*', json: { id: 1 } },
  { url: '*/join/!id%3Aother.example', json: { room_id: '!id:other.example' } },
  { url: '*/join/!id%3Aaccount.example', json: { room_id: '!id:account.example' } },
  { url: '*/ocs/v1.php/cloud/*', json: { ocs: { data: { users: ['bob', 'eve'] } } } },
  { url: '*[::1]*', json: { id: 1 } },
  {
    url: '*',
    json: {
      ok: true,
      success: true,
      result: 'success',
      code: 200,
      id: 'x',
      iden: 'x',
      name: 'x',
      access_token: 'fresh',
      user_id: '@ada:account.example',
      room_id: '!found:account.example',
      event_id: '$1',
      user: { id: 'U0FOUND' }
    }
  }
]

/** The comparable content of a message, by the service's names. */
type Told = Record<string, unknown>
interface Message { method: string, url: string, login: string | undefined, told: Told }
type Body = Record<string, unknown>

const pick = (...keys: string[]) => (body: Body): Told => Object.fromEntries(keys.map((key) => [key, body[key]]))
const NTFY_PRIORITIES = ['min', 'low', 'default', 'high', 'max']

function tellNtfy (body: Body, { headers }: Recorded): Told {
  const given = (key: string) => body[key] ?? headers[`x-${key}`]
  const word = headers['x-priority'] ?? 'default'
  const tags = headers['x-tags']?.split(',') ?? body.tags ?? []
  return {
    ...pick('topic', 'title', 'message', 'attach', 'filename')(body),
    ...Object.fromEntries(['click', 'delay', 'email', 'icon'].map((key) => [key, given(key)])),
    priority: body.priority ?? NTFY_PRIORITIES.indexOf(word) + 1,
    tags
  }
}

const unless = (value: unknown, usual: unknown) => value === usual ? undefined : value

/** Readers of the comparable content, by service. */
const TELL: Record<string, (body: Body, request: Recorded) => Told> = {
  ntfy: tellNtfy,
  gotify: pick('title', 'message', 'priority'),
  discord: pick('username', 'avatar_url', 'tts'),
  slack: pick('channel', 'username'),
  tgram: (body) => ({
    ...pick('message_thread_id', 'disable_notification')(body),
    chat: String(body.chat_id),
    unseen: body.disable_web_page_preview ?? (body.link_preview_options as Body | undefined)?.is_disabled
  }),
  pover: (body) => ({
    ...pick('token', 'user', 'title', 'message', 'url', 'url_title')(body),
    ...Object.fromEntries(['priority', 'retry', 'expire'].map((key) => [key, body[key] === undefined ? undefined : Number(body[key])])),
    device: unless(body.device, 'ALL_DEVICES'),
    sound: unless(body.sound, 'pushover')
  }),
  pbul: pick('type', 'title', 'body', 'device_iden', 'channel_tag', 'email'),
  mmost: pick('channel', 'username', 'icon_url'),
  rocket: pick('channel', 'roomId'),
  matrix: pick('msgtype', 'format', 'mrkdwn'),
  hassio: pick('title', 'message'),
  signal: pick('number', 'recipient'),
  ncloud: pick('shortMessage', 'longMessage'),
  gchat: (body, { url }) => ({
    thread: (body.thread as { threadKey?: string } | undefined)?.threadKey ?? new URL(url).searchParams.get('threadKey')
  }),
  workflow: () => ({}),
  zulip: (body) => ({
    type: body.type,
    to: String(body.to).replace(/^\["(.*)"\]$/, '$1'),
    topic: body.type === 'stream' ? body.topic ?? body.subject : undefined
  }),
  bark: (body) => ({
    ...pick('device_key', 'title', 'body', 'url', 'level', 'badge', 'category', 'group', 'icon', 'volume', 'call')(body),
    sound: String(body.sound).replace(/\.caf$/, '')
  }),
  json: (body) => body,
  form: (body) => body,
  xml: (body) => body,
  apprise: ({ tag, ...body }) => ({ ...body, tags: tag === undefined ? [] : [tag].flat() })
}

/** Parameters that only one side sends, without an effect. */
const QUERY_NOISE = ['wait', 'messageReplyOption', 'threadKey']

function toMessage (service: string, request: Recorded, body: Body): Message {
  const url = new URL(request.url)
  for (const name of QUERY_NOISE) url.searchParams.delete(name)
  url.searchParams.sort()
  const path = decodeURIComponent(url.pathname.replace(/^\/\//, '/').replace(/(\/send\/m\.room\.message\/).*/, '$1'))
  return {
    method: request.method,
    url: `${url.origin}${path}${url.search}`,
    // Apprise sends a header of the service's own, which is equivalent.
    login: ['pbul', 'pover'].includes(service) ? undefined : request.headers.authorization,
    told: JSON.parse(JSON.stringify(TELL[service]?.(body, request) ?? {})) as Told
  }
}

/** Lists the messages among some requests in canonical order, one per receiver. */
function toMessages (service: string, requests: readonly Recorded[]): Message[] {
  const messages = requests.flatMap((request) => {
    const body: Body = request.json ?? collect(request.fields ?? [])
    const isMessage = JSON.stringify([body, decodeURIComponent(request.url.replaceAll('+', ' '))]).includes(BODY)
    if (!isMessage) return []
    // Recipients are listed in one request, or each has a request.
    if (!Array.isArray(body.recipients)) return [toMessage(service, request, body)]
    return body.recipients.map((recipient: unknown) => toMessage(service, request, { ...body, recipient }))
  })
  return messages.sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
}

function collect (fields: readonly [string, string][]): Body {
  const body: Record<string, string | string[]> = {}
  for (const [name, value] of fields) body[name] = name in body ? [body[name] ?? [], value].flat() : value
  return body
}

function readXml (text: string): [string, string][] {
  return [...text.matchAll(/<(\w+)>([^<]*)<\/\1>/g)].map(([, name = '', value = '']) => [name, value])
}

function toRecorded ({ method, url, headers, body }: RecordedRequest): Recorded {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const rest = { method, url, headers: Object.fromEntries(lower) as Record<string, string> }
  if (body.startsWith('{')) return { ...rest, json: JSON.parse(body) as Body }
  return { ...rest, fields: body.startsWith('<?xml') ? readXml(body) : [...new URLSearchParams(body)] }
}

async function deliver (url: string) {
  const settings = parse(url)
  const ctx = createPluginContext(channel, { responses: ANSWERS })
  const notification = createNotification({ title: 'Scan completed', body: BODY, level: 'info', url: null, actor: null })
  await channel.definition.deliver(notification, settings, ctx)
  return { service: settings.service, requests: ctx.requests.map(toRecorded) }
}

/** Intended differences from Apprise, with the reason. */
const OTHERWISE: Record<string, string> = {
  'ntfy://ada@ntfy.example/one': 'a login without a password has an empty one',
  'ntfy://ada:secret@topic1/topic2?mode=cloud': 'a login is used at ntfy.sh too',
  'ntfy://topic?priority=urgent': "ntfy's own word for its highest priority",
  'ntfy://topic?tags=a&xtags=b': 'tags by either name',
  'ntfy://topic?xtags=a%2Cb': 'tags by either name',
  'gotify://gotify.example/AbCdEf?priority=7': 'any number is passed on',
  'gotify://gotify.example/AbCdEf?priority=urgent': 'the highest priority',
  'pover://uSerKeyuSerKeyuSerKeyuSerKey30@aPpTokenaPpTokenaPpTokenaPpT30?priority=emergency&interval=60': 'the option by either name',
  'mmost://chat.example/3ccdd113474722377935511fc85d3dd4?icon_url=https://a.example/i.png': 'the icon is passed on',
  'hassio://home.example/long.lived.token?prefix=/ha': 'the prefix can be an option, and services stand in the path',
  'nclouds://admin:app-pass@cloud.example/#players': 'the members of a group are told',
  'nclouds://admin:app-pass@cloud.example/#all': 'everybody is told',
  'workflows://prod-1.logic.example/643e69f8/KODu-ebW?pa=yes': 'the addresses of Power Automate are known',
  'barks://bark.example/d3v1ce?call=yes': 'the option is passed on',
  'barks://bark.example/d3v1ce?icon=https://a.example/i.png': 'the option is passed on',
  'xml://hook.example/a?-q=1&+X-Key=v': 'query parameters are passed on'
}

t.test('a pasted URL sends the same requests as Apprise', async (t) => {
  for (const { url, requests } of rows) {
    if (requests === null) continue
    const ours = await deliver(url)
    const [made, wanted] = [toMessages(ours.service, ours.requests), toMessages(ours.service, requests)]
    if (url in OTHERWISE) t.notSame(made, wanted, `${url}: ${OTHERWISE[url] ?? ''}`)
    else t.same(made, wanted, url)
  }
  const urls = rows.map(({ url }) => url)
  t.same(Object.keys(OTHERWISE).filter((url) => !urls.includes(url)), [])
})
