import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createHostId } from '../../core/process/host.ts'
import { forwardForeignSessions } from '../../core/sockets/forward-sessions.ts'
import type { App } from '../../core/typebox.ts'
import { buildWorker } from '../plugins/tasks/workers-support.ts'
import { buildTestApp } from '../support.ts'
import { until } from '../until.ts'
import { endpoint } from './socket-framing-support.ts'

const RUNS = 60
const SECRET = 'a notification of somebody who is signed in'

/** A forwarded request, as it arrived at the owner of its session. */
interface Seen { method: string | undefined, sid: string | null, connection: object, body: string }

interface Workers { owner: App, ownerUrl: string, otherPort: number, seen: Seen[], cookie: string }

async function startWorkers (t: Pick<Test, 'teardown' | 'testdir'>): Promise<Workers> {
  const test = await buildTestApp(t)
  // The path of a local socket in a test's own folder would be too long.
  const folder = mkdtempSync(join(tmpdir(), 'svc-framing-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const host = { id: createHostId(), address: null }
  const [owner, other] = await Promise.all([buildWorker(test, 2, host.id), buildWorker(test, 3, host.id)])
  for (const [app, number] of [[owner, 2], [other, 3]] as const) {
    t.teardown(() => app.close())
    await forwardForeignSessions(app, { folder, host, workerNumber: number })
    await app.listen({ port: 0, host: '127.0.0.1' })
  }
  // The number of guest sockets is limited.
  const login = await test.app.inject({ method: 'POST', url: '/api/login', headers: test.admin })
  const cookie = `svc_session=${login.cookies.find(({ name }) => name === 'svc_session')?.value}`
  const seen: Seen[] = []
  owner.sockets.main.engine.use((request: IncomingMessage, _response: unknown, next: () => void) => {
    const sid = new URLSearchParams(request.url?.split('?')[1]).get('sid')
    const one: Seen = { method: request.method, sid, connection: request.socket, body: '' }
    // Requests on the local socket have no address.
    if (request.socket.remoteAddress === undefined) seen.push(one)
    next()
    request.on('data', (text: string) => { one.body += text })
  })
  const portOf = (app: App) => (app.server.address() as AddressInfo).port
  return { owner, ownerUrl: `http://127.0.0.1:${portOf(owner)}`, otherPort: portOf(other), seen, cookie }
}

/** Opens a session of the owner, in the main namespace. */
async function openSession (ownerUrl: string, cookie: string): Promise<string> {
  const hello = await (await fetch(`${ownerUrl}${endpoint}`, { headers: { cookie } })).text()
  const { sid } = JSON.parse(hello.slice(1)) as { sid: string }
  await fetch(`${ownerUrl}${endpoint}&sid=${sid}`, { method: 'POST', body: '40' })
  return sid
}

/** Sends requests on one connection and returns the responses, until all have one or the server closes. */
async function converse (port: number, bytes: string, requests: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answers += text
    if ((answers.match(/HTTP\/1\.1 \d{3}/g) ?? []).length >= requests) socket.destroy()
  })
  // A server that refuses closes while the rest is still being written.
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  socket.write(bytes, 'latin1')
  await closed
  return answers
}

/** A request; `asked` is the request that the owner must see, or null for none. */
interface Sending { bytes: string, asked: { method: string, body: string } | null }

const CRLF = '\r\n'
const head = (method: string, sid: string, lines: string[]) =>
  [`${method} ${endpoint}&sid=${sid} HTTP/1.1`, 'Host: games.example', ...lines, '', ''].join(CRLF)
const chunk = (body: string, extension = '') => `${body.length.toString(16)}${extension}${CRLF}${body}${CRLF}`

/** Headers that are no part of the framing, and that must not become a part on the way. */
const noise = fc.subarray([
  'Connection: keep-alive, content-length', 'Connection: keep-alive, transfer-encoding', 'Connection: x-svc-client-address',
  'X-Svc-Client-Address: 10.0.0.1', 'X-Forwarded-For: 10.0.0.1', 'Keep-Alive: timeout=1', 'Proxy-Connection: keep-alive',
  'TE: trailers', 'Upgrade: h2c', 'Cookie: svc_session=forged', 'Authorization: Bearer svc_forged'
], { maxLength: 4 })

type Form = (sid: string, more: string[], body: string) => Sending

const poll = (framing: string[] = []): Form => (sid, more) =>
  ({ bytes: head('GET', sid, [...more, ...framing]), asked: { method: 'GET', body: '' } })
const post = (framing: (body: string) => string[], encode = (body: string) => body): Form => (sid, more, body) =>
  ({ bytes: head('POST', sid, [...more, ...framing(body)]) + encode(body), asked: { method: 'POST', body } })
const refused = (method: string, framing: (body: string) => string[], encode = (body: string) => body): Form =>
  (sid, more, body) => ({ bytes: head(method, sid, [...more, ...framing(body)]) + encode(body), asked: null })

const lengthOf = (body: string) => `Content-Length: ${body.length}`
const inChunks = (body: string) => `${chunk(body.slice(0, 3))}${chunk(body.slice(3))}0${CRLF}${CRLF}`

/** Requests in the forms that a client may write. */
const WELL_FORMED: Record<string, Form> = {
  'a poll': poll(),
  'a poll of length 0': poll(['Content-Length: 0']),
  'a body with its length': post((body) => [lengthOf(body)]),
  'a body in chunks': post(() => ['Transfer-Encoding: chunked'], inChunks),
  'chunks with extensions and a trailer': post(() => ['Transfer-Encoding: Chunked', 'Trailer: x-sum'],
    (body) => `${chunk(body, ';content-length=0;x="y"')}0${CRLF}X-Sum: 5${CRLF}${CRLF}`)
}

/** Requests about whose end or framing two parsers could disagree. The owner must see none of them. */
const AMBIGUOUS: Record<string, Form> = {
  'GET with a body': refused('GET', (body) => [lengthOf(body)]),
  'GET in chunks': refused('GET', () => ['Transfer-Encoding: chunked'], inChunks),
  'DELETE with a body': refused('DELETE', (body) => [lengthOf(body)]),
  'HEAD with a body': refused('HEAD', (body) => [lengthOf(body)]),
  'PUT in chunks': refused('PUT', () => ['Transfer-Encoding: chunked'], inChunks),
  'OPTIONS with a body': refused('OPTIONS', (body) => [lengthOf(body)]),
  'a length and chunks': refused('POST', () => ['Content-Length: 4', 'Transfer-Encoding: chunked'], inChunks),
  'chunks and a length': refused('POST', (body) => ['Transfer-Encoding: chunked', lengthOf(body)], (body) => `0${CRLF}${CRLF}${body}`),
  'two lengths': refused('POST', (body) => ['Content-Length: 0', lengthOf(body)]),
  'a list of lengths': refused('POST', (body) => [`Content-Length: 0, ${body.length}`]),
  'a signed length': refused('POST', (body) => [`Content-Length: +${body.length}`]),
  'a negative length': refused('POST', () => ['Content-Length: -1']),
  'a length in hexadecimal': refused('POST', (body) => [`Content-Length: 0x${body.length.toString(16)}`]),
  'another coding': refused('POST', () => ['Transfer-Encoding: gzip, chunked'], inChunks),
  'a coding after the chunks': refused('POST', () => ['Transfer-Encoding: chunked, identity'], inChunks),
  'a coding that looks like chunks': refused('POST', () => ['Transfer-Encoding: xchunked'], inChunks),
  'a blank before the colon': refused('POST', (body) => [`Content-Length : ${body.length}`]),
  'a null in a name': refused('POST', (body) => [`Content-Length\0: ${body.length}`]),
  'a null in a value': refused('POST', (body) => ['X-Any: a\0b', lengthOf(body)]),
  'a line feed alone': refused('POST', (body) => [`X-Any: a\nContent-Length: ${body.length}`, 'Content-Length: 0']),
  'a chunk size that is none': refused('POST', () => ['Transfer-Encoding: chunked'], (body) => `0x0${CRLF}${CRLF}${body}`),
  'a chunk longer than it says': refused('POST', () => ['Transfer-Encoding: chunked'], (body) => `1${CRLF}${body}${CRLF}0${CRLF}${CRLF}`),
  'a length after the chunks': refused('POST', () => ['Transfer-Encoding: chunked'],
    (body) => `${chunk(body)}0${CRLF}Content-Length: 5${CRLF}${CRLF}`),
  'a body of a WebSocket': refused('GET', (body) => ['Connection: Upgrade', 'Upgrade: websocket', lengthOf(body)])
}

t.test('the owner of a session sees exactly the requests that were sent', async (t) => {
  const { owner, ownerUrl, otherPort, seen, cookie } = await startWorkers(t)
  const victim = await openSession(ownerUrl, cookie)
  await until(() => owner.sockets.main.of('/').sockets.size === 1, 'the session is bound')
  // Only local, because other workers would get the event later, after the sessions of the requests below exist.
  owner.sockets.main.local.emit('test:secret', SECRET)
  /** Complete requests for the victim's session, hidden in a body. */
  const hiddenPost = `${head('POST', victim, ['Content-Length: 14'])}42["smuggled"]`
  const hiddenPoll = head('GET', victim, [])
  const bodies = ['42["said"]', `42["said","${hiddenPost}"]`, hiddenPost, hiddenPoll, `${hiddenPoll}${hiddenPost}`]
  const forms = { ...WELL_FORMED, ...AMBIGUOUS }

  async function send (names: (keyof typeof forms)[], more: string[], body: string): Promise<void> {
    seen.length = 0
    const made = await Promise.all(names.map(async (name) => {
      const sid = await openSession(ownerUrl, cookie)
      return { sid, ...forms[name]?.(sid, more, body) ?? { bytes: '', asked: null } }
    }))
    const answers = await converse(otherPort, made.map(({ bytes }) => bytes).join(''), made.length)
    const asked = made.map(({ sid, asked }) => asked === null ? null : { ...asked, sid })
    // An invalid request ends the connection and all requests on it.
    const needed = asked.includes(null) ? [] : asked
    const met = seen.map(({ method, sid, body: text }) => ({ method, sid, body: text }))
    const what = `${names.join(', then ')}; ${more.join(', ')}; ${JSON.stringify(body)}`
    for (const request of needed) assert.ok(met.some((one) => isDeepStrictEqual(one, request)), `${what}: lost`)
    for (const one of met) assert.ok(asked.some((request) => isDeepStrictEqual(one, request)), `${what}: ${JSON.stringify(one)}`)
    assert.equal(new Set(seen.map(({ connection }) => connection)).size, seen.length, `${what}: a connection was shared`)
    assert.equal(new Set(seen.map(({ sid }) => sid)).size, seen.length, `${what}: a request came twice`)
    assert.ok(!answers.includes(SECRET), `${what}: somebody else's answer`)
  }

  await t.test('each form alone, with a request hidden in its body', async (t) => {
    for (const name of Object.keys(forms)) {
      await t.resolves(send([name, 'a poll'], [], `${hiddenPoll}${hiddenPost}`), name)
    }
  })

  await t.test('sequences of forms on one connection', async (t) => {
    await t.resolves(fc.assert(fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(WELL_FORMED), ...Object.keys(AMBIGUOUS)), { minLength: 1, maxLength: 4 }),
      noise, fc.constantFrom(...bodies), send
    ), { numRuns: RUNS }))
  })

  await t.test('the attacked session has its own events and nothing was injected', async (t) => {
    const answer = await fetch(`${ownerUrl}${endpoint}&sid=${victim}`)
    t.match(await answer.text(), SECRET)
    t.equal((await fetch(`${ownerUrl}${endpoint}&sid=${victim}`, { method: 'POST', body: '3' })).status, 200)
  })

  await t.test('an incomplete body never reaches the owner', async (t) => {
    seen.length = 0
    const sid = await openSession(ownerUrl, cookie)
    const socket = connect(otherPort, '127.0.0.1')
    await once(socket, 'connect')
    socket.end(`${head('POST', sid, ['Content-Length: 100'])}42["said"]`)
    socket.resume()
    await once(socket, 'close')
    t.same(seen, [])
    t.equal((await fetch(`${ownerUrl}${endpoint}&sid=${sid}`)).status, 200)
  })
})
