import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import type { Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { type AssetItem, createClient } from '../assets/support.ts'
import { signIn } from '../auth/support.ts'
import { addRom } from '../roms/support.ts'
import { type DeviceHost } from './sftp-server.ts'

// The folder is watched for the whole life of the server.
export const base = await mkdtemp(join(tmpdir(), 'svc-sync-'))

export interface Session {
  id: number
  session_id: string
  status: string
  operations_planned: number
  operations_completed: number
  operations_failed: number
  error_message: string | null
}
export interface Device { id: string, device_id: string, sync_config: Record<string, unknown> | null }
export const DIRECTORY = { platform_slug: 'snes', path: '/saves/snes', extension: 'srm' }

/** Returns the actions of a device owner. */
export function createOwner (test: TestApp, headers: { authorization: string }) {
  const { call } = createClient(test, headers)
  async function register (payload: object): Promise<Device> {
    const reply = await call('POST', '/api/devices', { client: 'test', allow_duplicate: true, ...payload })
    if (reply.statusCode !== 201) throw new Error(reply.body)
    return reply.json()
  }
  const get = async (device: Device): Promise<Device> => (await call('GET', `/api/devices/${device.device_id}`)).json()
  async function ended (id: number): Promise<Session> {
    // A statement costs a tenth of a request, and a sync takes many checks.
    const isOver = async () => (await test.app.pg.query(
      "select from sync_sessions where id = $1 and status in ('COMPLETED', 'FAILED')", [id])).rowCount === 1
    await until(isOver, `the end of session ${id}`)
    return (await call('GET', `/api/sync/sessions/${id}`)).json()
  }
  const ask = (device: Device) => call('POST', `/api/sync/devices/${device.device_id}/push-pull`)
  return {
    register,
    get,
    ask,
    ended,
    configure: (device: Device, config: object | null) => call('PUT', `/api/devices/${device.device_id}`, { sync_config: config }),
    /** Syncs over SSH and waits for the end. */
    async sync (device: Device): Promise<Session> {
      const reply = await ask(device)
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return await ended(reply.json<Session>().id)
    },
    /** Registers a device that the server reaches over SSH. */
    reach: (host: DeviceHost, config: object = {}) => register({
      sync_mode: 'push_pull',
      sync_config: {
        ssh_host: host.host, ssh_port: host.port, ssh_username: 'deck', ssh_password: 'let me in', save_directories: [DIRECTORY], ...config
      }
    })
  }
}

export type Heard = Record<string, unknown>

/** Collects the sync events of an open page of the administrator. */
export async function listen (t: Pick<Test, 'teardown'>, { app, worker }: TestApp) {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { cookie } = await signIn(app, 'admin')
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  const { rows: [user] } = await app.pg.query<{ id: number }>("select id from users where username = 'admin'")
  const room = userRoom(user?.id ?? 0)
  await until(() => app.sockets.main.sockets.adapter.rooms.get(room)?.has(socket.id ?? '') === true, 'the socket is bound')
  await awaitEarlierEvents(socket, ...[app, worker].filter((one) => one !== null))
  const heard: [event: string, payload: Heard][] = []
  socket.onAny((event: string, payload: Heard) => { heard.push([event, payload]) })
  return {
    /** Returns the first event of this name that no test consumed yet. */
    next: (name: string): Promise<Heard> => until(() => {
      const index = heard.findIndex(([event]) => event === name)
      return index !== -1 && (heard.splice(index, 1)[0]?.[1] ?? false)
    }, name)
  }
}

export const counts = (
  { status, operations_planned: planned, operations_completed: completed, operations_failed: failed }: Session
) =>
  `${status} ${planned}/${completed}/${failed}`

export async function contentOf ({ app, admin }: TestApp, id: number): Promise<string> {
  return (await app.inject({ url: `/api/saves/${id}/content`, headers: admin })).body
}

/** Returns the newest save of a ROM in a slot. */
export async function newest ({ app, admin }: TestApp, rom: number, slot = 'main'): Promise<AssetItem> {
  const [save] = (await app.inject({ url: `/api/saves?rom_id=${rom}&slot=${slot}`, headers: admin })).json<AssetItem[]>()
  if (save === undefined) throw new Error('there is no save')
  return save
}

export async function startServerSync (t: Test) {
  t.teardown(() => rm(base, { recursive: true, force: true }))
  const fresh = shareTestApp(t, {
    worker: true, env: { SYNC_BASE_PATH: base, ENABLE_SYNC_FOLDER_WATCHER: 'true', SYNC_FOLDER_SCAN_DELAY: '0.005' }
  })

  async function start (t: Test) {
    const test = await fresh(t)
    const client = createClient(test, test.admin)
    const rom = await addRom(test, { fs_name: 'Game.sfc', platform: 'snes' })
    return { test, client, rom, ...createOwner(test, test.admin) }
  }
  return { start }
}
