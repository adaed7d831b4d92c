import type { Test } from 'tap'
import { buildTestApp } from '../../support.ts'
import { type Caller, type PairedDevice, pairDevice } from '../devices/support.ts'
import { addRom } from '../roms/support.ts'
import { createCaller } from '../tokens/support.ts'

export let nextGame = 1

export async function headersOf (name: string) {
  return { authorization: `Basic ${Buffer.from(`${name}:a password`).toString('base64')}` }
}

export async function startInstalls (t: Test) {
  const test = await buildTestApp(t)
  const { app, databaseUrl } = test

  const alice = createCaller(app, await test.createUser('alice'))

  t.beforeEach(async () => {
    for (const table of ['install_requests', 'hidden_entities', 'notifications']) await app.pg.query(`delete from ${table}`)
  })

  /** Adds a device of a user that can install games. */
  async function makeDevice (user: Caller = alice): Promise<PairedDevice & { installs: string }> {
    const device = await pairDevice(app, user)
    await user.put(`/api/devices/${device.id}`, { capabilities: { remote_install: true } })
    return { ...device, installs: `/api/devices/${device.id}/installs` }
  }
  const makeGame = (platform = 'snes') => addRom(test, { fs_name: `Game ${nextGame++}.zip`, platform })

  const age = (interval: string) => app.pg.query(`update install_requests set updated_at = now() - interval '${interval}'`)
  return { test, app, databaseUrl, alice, makeDevice, makeGame, age }
}
