import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { addRom } from '../roms/support.ts'
import type { TestApp } from '../../support.ts'
import { RetroArch } from './retroarch.ts'

type Headers = Record<string, string>

export const basicOf = (username: string, password: string) => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** Returns the address of the sync of a listening server. */
export async function baseOf ({ app }: TestApp): Promise<string> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/webdav/`
}

/** Creates a token, for a device of its own if it has a name. @returns the token as the password of any user */
export async function createToken (
  { app }: TestApp, headers: Headers, device: string | null, scopes: readonly string[] = ['assets.read', 'assets.write']
): Promise<{ authorization: string, deviceId: number | null }> {
  const reply = await app.inject({ method: 'POST', url: '/api/client-tokens', headers, payload: { name: device ?? 'unbound', scopes } })
  const { id, raw_token: token } = reply.json<{ id: number, raw_token: string }>()
  const authorization = basicOf('retroarch', token)
  if (device === null) return { authorization, deviceId: null }
  const { rows: [row] } = await app.pg.query<{ device_id: number }>(`with made as (insert into devices (user_id, name, sync_mode)
      select user_id, $1, 'api' from client_tokens where id = $2 returning id)
    update client_tokens set device_id = (select id from made) where id = $2 returning device_id`, [device, id])
  return { authorization, deviceId: row?.device_id ?? null }
}

/** Creates a RetroArch with a device and token of its own. */
export async function createRetroArch (t: Pick<Test, 'teardown'>, test: TestApp, headers: Headers, name: string): Promise<RetroArch> {
  const { authorization } = await createToken(test, headers, name)
  const client = new RetroArch(await baseOf(test), authorization)
  t.teardown(() => { client.close() })
  return client
}

/** Adds a game of a console. */
export const addGame = (test: TestApp, name = 'Game (USA)', platform = 'snes', extension = 'sfc'): Promise<number> =>
  addRom(test, { platform, fs_name: `${name}.${extension}` })
