import type { AddressInfo } from 'node:net'
import { type Socket, io } from 'socket.io-client'
import type { Test } from 'tap'
import type { App } from '../../../core/typebox.ts'
import { bearer, createCaller } from '../tokens/support.ts'

export type Caller = ReturnType<typeof createCaller>

/** A paired device, with a client for the token that is bound to it. */
export interface PairedDevice { id: number, device_id: string, token: string, token_id: number, calls: Caller }

export const DEVICE_SCOPES = ['devices.read', 'devices.write', 'roms.read', 'me.read']
let nextInstallation = 1

/** Pairs a device as an app does: the app shows a code, and its user approves. */
export async function pairDevice (app: App, user: Caller, scopes = DEVICE_SCOPES): Promise<PairedDevice> {
  const installation = `installation-${nextInstallation++}`
  const device = createCaller(app)
  const { body: codes } = await device.post('/api/auth/device/init', {
    client_device_identifier: installation, name: installation, client: 'test', requested_scopes: scopes
  })
  await user.post('/api/auth/device/approve', { user_code: codes.user_code, approved_scopes: scopes })
  const { body: granted } = await device.post('/api/auth/device/token', { device_code: codes.device_code })
  const token: string = granted.access_token
  const { rows: [row] } = await app.pg.query<{ id: number }>(
    'select max(id) as id from client_tokens where device_id = $1', [granted.device_number])
  return {
    id: granted.device_number, device_id: granted.device_id, token, token_id: row?.id ?? 0,
    calls: createCaller(app, bearer(token))
  }
}

interface Handshake {
  auth?: Record<string, unknown>
  headers?: Record<string, string>
  namespace?: string
  transport?: string
  /** True if the socket reconnects by itself after a short delay. */
  reconnects?: boolean
}

/** Opens a socket of a companion app, which the server may still refuse. */
export function openSocket (t: Pick<Test, 'teardown'>, app: App, handshake: Handshake): Socket {
  const { auth = {}, headers = {}, namespace = '/devices', transport = 'websocket', reconnects = false } = handshake
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}${namespace}`, {
    path: '/ws/socket.io', transports: [transport], forceNew: true, auth, extraHeaders: headers,
    reconnection: reconnects, reconnectionDelay: 50, reconnectionDelayMax: 50
  })
  t.teardown(() => { socket.disconnect() })
  return socket
}

/** Returns the result of a handshake: `connected`, or the message of the refusal. */
export async function shake (t: Pick<Test, 'teardown'>, app: App, handshake: Handshake): Promise<string> {
  const socket = openSocket(t, app, handshake)
  return await new Promise((resolve) => {
    socket.once('connect', () => { resolve('connected') })
    socket.once('connect_error', (err) => { resolve(err.message) })
  })
}

/** Opens a socket and waits until the server admits it. */
export async function connect (t: Pick<Test, 'teardown'>, app: App, token: string): Promise<Socket> {
  const socket = openSocket(t, app, { auth: { token } })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', reject)
  })
  return socket
}

export interface Heard { event: string, payload: Record<string, unknown> }

/** Returns a list that collects the events of a socket. */
export function listen (socket: Socket): Heard[] {
  const heard: Heard[] = []
  socket.onAny((event: string, payload: Record<string, unknown>) => { heard.push({ event, payload }) })
  return heard
}
