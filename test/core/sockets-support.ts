import type { AddressInfo } from 'node:net'
import { type Socket as Client, io } from 'socket.io-client'
import type { Test } from 'tap'
import type { App } from '../../core/typebox.ts'
import { type TestApp } from '../support.ts'
import { until } from '../until.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'test:marked': object }
}

export interface ConnectOptions { cookie?: string, origin?: string, path?: string, transport?: 'websocket' | 'polling', joined?: boolean }

export async function listen (app: App): Promise<string> {
  if (app.server.listening) return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return await app.listen({ port: 0, host: '127.0.0.1' })
}

export async function open (t: Pick<Test, 'teardown'>, app: App, options: ConnectOptions = {}): Promise<Client> {
  const { cookie, origin, path = '/ws/socket.io', transport = 'websocket', joined = false } = options
  const client = io(await listen(app), {
    path,
    transports: [transport],
    reconnection: false,
    forceNew: true,
    ...(joined ? { auth: { joined } } : {}),
    extraHeaders: { ...(cookie === undefined ? {} : { cookie }), ...(origin === undefined ? {} : { origin }) }
  })
  t.teardown(() => { client.disconnect() })
  return client
}

export async function connect (t: Pick<Test, 'teardown'>, app: App, options: ConnectOptions = {}): Promise<Client> {
  const client = await open(t, app, options)
  await new Promise<void>((resolve, reject) => {
    client.once('connect', resolve)
    client.once('connect_error', reject)
  })
  return client
}

/** Signs in as one of the users of `createUser` and returns the session's cookie. */
export async function signIn (app: App, username: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${username}:a password`).toString('base64')}`
  const reply = await app.inject({ method: 'POST', url: '/api/login', headers: { authorization } })
  const session = reply.cookies.find(({ name }) => name === 'svc_session')
  return `svc_session=${session?.value}`
}

/** Collects all texts until the word `end`. */
export function collect (client: Client): Promise<string[]> {
  const texts: string[] = []
  return new Promise((resolve) => {
    client.on('test:said', ({ text }: { text: string }) => {
      if (text === 'end') resolve(texts)
      else texts.push(text)
    })
  })
}

/**
 * Waits until a socket has received all earlier events of these processes. An event may arrive after the response to
 * the request that caused it. The events of one process arrive in their order.
 */
export async function awaitEarlierEvents (client: Client, ...apps: App[]): Promise<void> {
  // Each socket is in a room of its own.
  const room = await until(() => client.id, 'the id of the socket')
  for (const app of apps) {
    const marked = new Promise<void>((resolve) => { client.once('test:marked', () => { resolve() }) })
    app.sockets.publish(room, 'test:marked', {})
    await marked
  }
}

/** Waits for the join, which ends after the start. */
export const joined = (app: App, room: string) => until(() => app.sockets.main.sockets.adapter.rooms.has(room), `room ${room}`)

export const idOf = async (testApp: TestApp, username: string) =>
  (await testApp.app.pg.query<{ id: number }>('select id from users where username = $1', [username])).rows[0]?.id ?? 0
