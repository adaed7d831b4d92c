import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'
import { createCaller } from '../tokens/support.ts'

const MAIN = fileURLToPath(new URL('../../../examples/companion-sync/main.ts', import.meta.url))
const SCOPES = ['devices.read', 'devices.write', 'assets.read', 'assets.write', 'roms.read']
const SAVE = 'Chrono Trigger (USA).srm'

const server = await buildTestApp(t)
const { app } = server
await app.listen({ port: 0, host: '127.0.0.1' })
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const admin = createCaller(app, server.admin)
const rom = await addRom(server, { fs_name: 'Chrono Trigger (USA).sfc' })
const folders = t.testdir({ deck: {}, phone: {} })

/** Runs the example to its end. */
async function run (...args: string[]): Promise<{ code: number, output: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit') as Promise<[number]>])
  return { code, output: (out + err).trim() }
}

/** Pairs a device with a new token. */
async function pair (device: string): Promise<string> {
  const folder = join(folders, device)
  const { body: token } = await admin.post('/api/client-tokens', { name: device, scopes: SCOPES })
  const { body: { code } } = await admin.post(`/api/client-tokens/${token.id}/pair`)
  t.match(await run('pair', url, code, folder), { code: 0, output: /^Paired with http:\/\/127\.0\.0\.1:\d+ as device \d+$/ })
  // The server treats two installations on one machine as one device unless their host names differ.
  await app.pg.query('update devices set hostname = $1', [device])
  return folder
}

const read = (folder: string) => readFile(join(folder, SAVE), 'utf8')
const write = (folder: string, content: string) => writeFile(join(folder, SAVE), content)

t.test('the paired example carries saves between devices and reports play sessions', async (t) => {
  const deck = await pair('deck')
  const phone = await pair('phone')
  await write(deck, 'first')
  await writeFile(join(deck, 'notes.txt'), 'not of any game')
  await writeFile(join(deck, '.plays.json'), JSON.stringify([
    { rom_id: rom, start: '2026-01-01T10:00:00Z', end: '2026-01-01T11:00:00Z', duration_seconds: 3600 }
  ]))
  t.same(await run('sync', deck), { code: 0, output: `upload ${SAVE}\n1 done, 0 failed` })
  t.same(await run('sync', deck), { code: 0, output: '0 done, 0 failed' })
  t.match((await admin.get('/api/play-sessions')).body, [{ rom_id: rom, duration_seconds: 3600 }])
  t.same((await readdir(deck)).sort(), ['.companion.json', SAVE, 'notes.txt'].sort())

  t.same(await run('sync', phone), { code: 0, output: `download ${SAVE}\n1 done, 0 failed` })
  t.equal(await read(phone), 'first')

  await write(phone, 'from the phone')
  await write(deck, 'from the deck')
  t.same(await run('sync', phone), { code: 0, output: `upload ${SAVE}\n1 done, 0 failed` })
  t.same(await run('sync', deck), { code: 0, output: `conflict ${SAVE}\n1 done, 0 failed` })
  t.equal(await read(deck), 'from the phone')
  const saves = (await admin.get(`/api/saves?rom_id=${rom}`)).body as { id: number, file_name: string }[]
  const kept = saves.find(({ file_name: name }) => name.includes('.conflict-'))
  const content = await app.inject({ url: `/api/saves/${kept?.id}/content`, headers: server.admin })
  t.equal(content.body, 'from the deck')
  for (const folder of [deck, phone]) t.same(await run('sync', folder), { code: 0, output: '0 done, 0 failed' })
})

t.test('the example skips a save with an unknown game and first sends unconfirmed plays', async (t) => {
  const deck = join(folders, 'deck')
  for (const platform of ['snes', 'gba']) await addRom(server, { fs_name: 'Twin.zip', platform })
  await writeFile(join(deck, 'Twin.srm'), 'whose?')
  const play = (hour: number) => JSON.stringify([
    { rom_id: rom, start: `2026-01-02T1${hour}:00:00Z`, end: `2026-01-02T1${hour}:10:00Z`, duration_seconds: 600 }
  ])
  await writeFile(join(deck, '.plays.sending.json'), play(1))
  await writeFile(join(deck, '.plays.json'), play(2))
  const report = 'skipped Twin.srm: several games have this name\n0 done, 0 failed'
  const count = async () => (await admin.get('/api/play-sessions')).body.length
  for (const played of [2, 3, 3]) {
    t.same(await run('sync', deck), { code: 0, output: report })
    t.equal(await count(), played)
  }
  t.notOk((await readdir(deck)).some((name) => name.startsWith('.plays')))
  await rm(join(deck, 'Twin.srm'))
})

t.test('the example prints what is wrong', async (t) => {
  t.match(await run(), { code: 1, output: /node main\.ts pair <server> <code>/ })
  t.match(await run('sync', t.testdir({})), { code: 1, output: /is not paired yet/ })
  t.match(await run('pair', url, 'ABCD2345', t.testdir({})), { code: 1, output: /The code 'ABCD2345' was refused/ })
})
