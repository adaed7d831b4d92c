import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Socket, io } from 'socket.io-client'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { userRoom } from '../../../core/sockets/sockets.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import type { TestApp } from '../../support.ts'
import { until } from '../../until.ts'

/** A request that a broker received. */
export interface Asked { call: string, body: Record<string, unknown>, secret: string | undefined }

type Reply = (response: ServerResponse, body: Record<string, unknown>) => void

const json = (status: number, answer: unknown): Reply => (response) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** Possible responses and failures of a broker. */
export const replies = {
  json,
  ok: (answer: object = {}) => json(200, answer),
  text: (status: number, body: string): Reply => (response) => { response.writeHead(status).end(body) },
  /** The broker accepts the request and does not respond. */
  silence: (() => {}) as Reply,
  /** The broker closes the connection. */
  cut: ((response) => { response.destroy() }) as Reply
}

const WELL: Record<string, Reply> = {
  'POST /launch': json(200, { status: 'ok', core: 'snes9x', core_tier: 'default' }),
  'DELETE /launch': json(200, { status: 'stopped' }),
  'GET /memory-card': json(200, { outcome: 'none' }),
  'POST /save-and-exit': json(200, { saved: true }),
  'POST /volume': json(200, { status: 'ok' }),
  'POST /mute': (response, { mute = true }) => { json(200, { mute })(response, {}) },
  'POST /save-state': json(200, { status: 'saving' }),
  'POST /load-state': json(200, { loaded: true }),
  'POST /swap-disc': json(200, {}),
  'POST /join': json(200, { host: 'https://guest.example' }),
  'POST /desktop': json(200, {})
}

/** A broker of the protocol, over HTTP. */
export async function startBroker (t: Pick<Test, 'teardown'>) {
  const asked: Asked[] = []
  const script = new Map<string, Reply>()
  async function answer (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = await text(request)
    const call = `${request.method} ${request.url}`
    const body = given === '' ? {} : JSON.parse(given) as Record<string, unknown>
    asked.push({ call, body, secret: request.headers['x-broker-secret'] as string | undefined })
    const reply = script.get(call) ?? WELL[call] ?? json(404, {})
    reply(response, body)
  }
  const server = createServer((request, response) => { answer(request, response).catch(() => { response.destroy() }) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  t.teardown(close)
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    asked,
    /** Returns the requests with this method and path. */
    askedFor: (call: string) => asked.filter((one) => one.call === call),
    when (call: string, reply: Reply): void { script.set(call, reply) },
    /** Restores the default responses and clears the requests. */
    reset (): void {
      script.clear()
      asked.length = 0
    },
    close
  }
}
export type TestBroker = Awaited<ReturnType<typeof startBroker>>

/** Configures the machines, as an administrator does. */
export async function setContainers (
  { config }: TestApp, containers: Record<string, unknown>[], more: Record<string, unknown> = {}
): Promise<void> {
  await writeFile(join(config.data_dir, 'config.yml'), stringify({ streaming: { enabled: true, containers, ...more } }))
}

/** An open page of a user that records its events. */
export interface Page { headers: Record<string, string>, id: number, heard (event: string): Record<string, unknown>[] }

/** Signs in as a browser does, with a socket that receives the events of the user. */
export async function openPage (t: Pick<Test, 'teardown'>, { app }: TestApp, authorization: string): Promise<Page> {
  const login = await app.inject({ method: 'POST', url: '/api/login', headers: { authorization } })
  const cookies = new Map(login.cookies.map(({ name, value }) => [name, value]))
  const csrf = cookies.get('svc_csrftoken') ?? ''
  const cookie = `svc_session=${cookies.get('svc_session')}; svc_csrftoken=${csrf}`
  const headers = { cookie, 'x-csrftoken': csrf }
  const { id } = (await app.inject({ url: '/api/users/me', headers })).json<{ id: number }>()
  const socket: Socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await until(() => app.sockets.main.sockets.adapter.rooms.get(userRoom(id))?.has(socket.id ?? '') === true, 'the page listens')
  await awaitEarlierEvents(socket, app)
  const events: [string, Record<string, unknown>][] = []
  socket.onAny((event: string, payload: Record<string, unknown>) => { events.push([event, payload]) })
  return { headers, id, heard: (event) => events.filter(([name]) => name === event).map(([, payload]) => payload) }
}
