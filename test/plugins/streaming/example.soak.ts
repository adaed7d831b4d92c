import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from '../roms/support.ts'
import { openPage, setContainers } from './support.ts'

const MAIN = fileURLToPath(new URL('../../../examples/streaming-broker/main.ts', import.meta.url))
const HOST = 'https://stream.example'

/** Replaces RetroArch: logs the network commands that it gets, and ends when told to. */
const EMULATOR = `
import { createSocket } from 'node:dgram'
import { appendFileSync } from 'node:fs'
const [file, port, core, rom] = process.argv.slice(2)
const note = (line) => appendFileSync(file, line + '\\n')
const socket = createSocket('udp4')
socket.on('message', (message, { port: from, address }) => {
  if (String(message) === 'GET_STATUS') socket.send('GET_STATUS PLAYING snes,Quest,crc32=0', from, address)
  else note(String(message))
})
socket.bind(Number(port), '127.0.0.1', () => note('plays ' + rom + ' with ' + core))
process.on('SIGTERM', () => { note('ends'); process.exit(0) })
`
const NOTE = "import { appendFileSync } from 'node:fs'; const [file, ...words] = process.argv.slice(2); appendFileSync(file, words.join(' ') + '\\n')"

/** Returns a free port. */
async function findPort (): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

const test = await buildTestApp(t, { library: { roms: { snes: { 'Quest.sfc': 'a game' } } } })
const { app, config, libraryDir } = test
await app.listen({ port: 0, host: '127.0.0.1' })

/** Runs the example with the programs in a folder; returns the port it listens on. */
async function runBroker (t: Pick<Test, 'teardown'>, folder: string): Promise<number> {
  const notes = join(folder, 'notes.txt')
  const commandPort = await findPort()
  const node = process.execPath
  const child = spawn(node, [MAIN], {
    env: {
      PATH: process.env.PATH,
      BROKER_SECRET: 'hush',
      PORT: '0',
      CORES: 'snes=bsnes',
      ROOTS: `${libraryDir},${join(config.data_dir, 'assets')}`,
      COMMAND_PORT: String(commandPort),
      STATES_DIR: join(folder, 'states'),
      EMULATOR: `${node} ${join(folder, 'emulator.mjs')} ${notes} ${commandPort} {core} {rom}`,
      VOLUME: `${node} ${join(folder, 'note.mjs')} ${notes} volume {level}`,
      MUTE: `${node} ${join(folder, 'note.mjs')} ${notes} mute {mute}`
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => { output += text })
  return Number(await until(() => /port (\d+)/.exec(output)?.[1], 'the broker listens'))
}

t.test("the example starts a requested game, obeys its player's controls and ends it", async (t) => {
  const folder = t.testdir({ 'emulator.mjs': EMULATOR, 'note.mjs': NOTE, states: {} })
  const readNotes = async () => (await readFile(join(folder, 'notes.txt'), 'utf8')).split('\n').filter(Boolean)
  const port = await runBroker(t, folder)
  const address = `127.0.0.1:${port}`
  await setContainers(test, [{
    platform: 'snes', host: HOST, broker_host: address, broker_secret: 'hush', max_slots: 9, desktop: true, import_kinds: ['state']
  }])
  const rom = await addRom(test, { fs_name: 'Quest.sfc' })
  const missing = await addRom(test, { fs_name: 'Missing.sfc' })
  const page = await openPage(t, test, test.admin.authorization)
  const post = async (path: string, payload: object) =>
    (await app.inject({ method: 'POST', url: `/api/streaming/${path}`, headers: page.headers, payload })).json<Record<string, unknown>>()
  const status = async () => (await app.inject({ url: '/api/streaming/sessions/snes/status', headers: page.headers })).json<Record<string, unknown>>()

  t.equal((await fetch(`http://${address}/launch`)).status, 401, 'nobody without the secret')

  await post('sessions', { rom_id: missing })
  await until(() => page.heard('streaming:launch-failed').length === 1, 'what is not there is not played')
  t.match(page.heard('streaming:launch-failed'), [{ detail: /is not on this machine/ }])

  await mkdir(join(config.data_dir, 'assets', 'users'), { recursive: true })
  await writeFile(join(config.data_dir, 'assets', 'users', 'quest.state'), 'a state')
  const { rows: [state] } = await app.pg.query<{ id: number }>(`insert into assets
    (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path)
    values ('state', $1, $2, 'snes', 'Quest.sfc', 'quest.state', 'x', 'users/quest.state') returning id`, [page.id, rom])
  await post('sessions', { rom_id: rom, state_id: state?.id })
  await until(() => page.heard('streaming:launch-ready').length === 1, 'it runs')
  t.match(page.heard('streaming:launch-ready'), [{ host: HOST, core: 'bsnes', core_tier: 'default', resume: true }])
  t.equal(await readFile(join(folder, 'states', 'Quest.state'), 'utf8'), 'a state')

  t.match(await post('sessions/snes/save-state', { slot: 2 }), { status: 'saving' })
  t.match(await post('sessions/snes/load-state', { slot: 1 }), { loaded: true })
  t.match(await post('sessions/snes/volume', { level: 30 }), { status: 'ok' })
  t.match(await post('sessions/snes/mute', {}), { mute: true })
  t.match(await post('sessions/snes/save-and-exit', { slot: 3 }), { saved: true, released: true })
  await until(async () => (await readNotes()).includes('ends'), 'the emulator has ended')
  // The volume is set by other programs, which may write before the emulator has read its commands.
  const ofSound = (await readNotes()).filter((note) => /^(volume|mute) /.test(note))
  t.same(ofSound, ['volume 30', 'mute 1'])
  t.same((await readNotes()).filter((note) => !ofSound.includes(note)), [
    `plays ${join(libraryDir, 'roms', 'snes', 'Quest.sfc')} with bsnes`, 'LOAD_STATE',
    'STATE_SLOT_PLUS', 'STATE_SLOT_PLUS', 'SAVE_STATE', 'STATE_SLOT_MINUS', 'LOAD_STATE',
    'STATE_SLOT_PLUS', 'STATE_SLOT_PLUS', 'SAVE_STATE', 'ends'
  ])
  t.match(await status(), { status: 'ended' })

  const { containers } = (await app.inject({ url: '/api/streaming/containers', headers: page.headers })).json<{ containers: { container: string }[] }>()
  t.match(await post('desktop', { container: containers[0]?.container }), { host: HOST, platform: 'snes' })
})
