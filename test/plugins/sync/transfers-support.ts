import { buildTestApp } from '../../support.ts'
import { createClient, createForm } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'
import { createSyncWorld, listFiles } from './support.ts'
import { bearer, createCaller } from '../tokens/support.ts'
import type { Test } from 'tap'

export interface Operation { type: string, file: string, destination?: string, source?: string, dest_path?: string }
export let count = 0

export async function startTransfers (t: Test) {
  type Device = Awaited<ReturnType<typeof world.addDevice>>

  const test = await buildTestApp(t)
  const { app } = test
  const world = createSyncWorld(test)

  /** A companion app that only follows the specification, with its files. */
  async function addClient (user: Awaited<ReturnType<typeof world.addUser>>, rom: number, device: Device) {
    const headers = await world.addApp(user.id, device.id, ['assets.read', 'assets.write', 'devices.write'])
    const caller = createCaller(app, headers)
    const files: Record<string, string> = {}
    let completed = 0

    async function send (url: string, fileName: string, content: string): Promise<number> {
      const form = createForm([{ name: 'file', fileName, content }])
      return (await app.inject({ method: 'POST', url, headers: { ...headers, ...form.headers }, payload: form.payload })).statusCode
    }

    async function carryOut ({ type, file, destination, source, dest_path: path }: Operation): Promise<void> {
      if (type === 'noop') return
      if (destination !== undefined) t.equal(await send(destination, file, files[file] ?? ''), 200, `${type}: ${destination}`)
      if (source !== undefined && path !== undefined) {
        const reply = await app.inject({ url: source, headers })
        t.equal(reply.statusCode, 200, `${type}: ${source}`)
        files[path] = reply.body
      }
      completed++
    }

    return {
      files,
      /** @returns the operations of the sync */
      async sync ({ completes = true } = {}): Promise<string[]> {
        const { body: { session_id: session, operations } } = await caller.post('/api/sync/negotiate',
          { device_id: device.id, roms: listFiles({ [rom]: files }) })
        completed = 0
        for (const operation of operations as Operation[]) await carryOut(operation)
        const told = (operations as Operation[]).map(({ type, file }) => `${type} ${file}`).sort()
        if (!completes) return told
        const done = await caller.post(`/api/sync/sessions/${session}/complete`, { operations_completed: completed, operations_failed: 0 })
        t.match(done, { status: 200, body: { session: { operations_planned: completed } } })
        return told
      }
    }
  }

  async function begin (device: object = {}) {
    const name = `player${++count}`
    const user = await world.addUser(name)
    /** A user of the server's web pages. */
    const owner = createClient(test, bearer(`svc_${name}`))
    const rom = await addRom(test, { fs_name: `game${count}.sfc` })
    const deck = await addClient(user, rom, await world.addDevice(user.id, device))
    const phone = await addClient(user, rom, await world.addDevice(user.id, device))
    const kept = async () => {
      const { rows } = await app.pg.query<{ sha1: string }>(`select sha1 from assets where user_id = $1
        union select v.sha1 from asset_versions v join assets a on a.id = v.asset_id where a.user_id = $1`, [user.id])
      return new Set(rows.map((row) => row.sha1))
    }
    return { user, owner, rom, deck, phone, kept }
  }
  return { world, begin }
}
