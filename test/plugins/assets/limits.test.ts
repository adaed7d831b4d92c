import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { until } from '../../until.ts'
import { type AssetItem, PNG, createClient, createForm, folderOf, listStored } from './support.ts'
import { addRom } from '../roms/support.ts'
import { bearer } from '../tokens/support.ts'
import { LIMIT, startLimits } from './limits-support.ts'

const { test, app, headers, alice } = await startLimits(t)

const bob = createClient(test, await test.createUser('bob'))
const rom = await addRom(test, { fs_name: 'Game.sfc' })
const { port } = app.server.address() as AddressInfo

const LONG = 'n'.repeat(300)
const WAYS_OUT = ['../', '..\\', '/', '\\', 'C:\\', 'C:/', '//server/share/', './', '../../../../../../', '....//', '..%2f', '%2e%2e/',
  '..%5c', '/etc/', '\\\\?\\', 'file:///', '~/', './/', 'a/../../', 'a\\..\\..\\', '..;/', '\u2025/', '\uff0e\uff0e/', '..\u2215']
const NAMES = ['passwd', 'Game.srm', '.ssh', 'authorized_keys', '..', '.', '']
/** File names that caused harm in other software. */
const CORPUS = [
  ...WAYS_OUT.flatMap((way) => NAMES.map((name) => way + name)),
  '', '.', '..', '...', ' ', '\t', '. ', ' .', ' ..', '.. ', '*', '?', '<>', '"', '+', '|', ':', '*?<>+', 'CON', 'NUL', 'com1.txt', 'aux.srm',
  'a\0b', '\0', '..\0', 'a\nb', 'a\rb', 'a\r\nContent-Type: text/html', 'a\u0085b', '\u202egnp.srm', '\ud83c\udfae.srm', LONG, `${LONG}.srm`,
  '\ud83c\udfae'.repeat(80), '-rf', '--help', '$(id)', '`id`', ';ls', '& dir', '%00', '%0a', "'", '{}', '[]', '#', '?x=1', 'a'.repeat(255),
  '.htaccess', 'index.html', 'x.svg', 'x.php', '\ufeff', '\u200b'
]

t.test('V2: no file name leads outside the folders of its user or to a server error', async (t) => {
  t.ok(CORPUS.length >= 200, `${CORPUS.length} names`)
  const outside = await mkdtemp(join(tmpdir(), 'svc-corpus-'))
  t.teardown(() => rm(outside, { recursive: true }))
  const data = join(test.config.data_dir)
  const beside = async () => (await readdir(data)).filter((name) => name !== 'assets').sort()
  const before = await beside()
  const routes = [
    ['/api/saves', 'saveFile', 'screenshotFile'], ['/api/states', 'stateFile'], ['/api/screenshots', 'screenshotFile']
  ] as const
  await Promise.all(routes.map(async ([path, ...parts], place) => {
    // Each route gets a third of the names, because one form reader serves all routes.
    for (const name of CORPUS.filter((_, index) => index % 3 === place)) {
      const fileName = name.replaceAll('"', '%22')
      const reply = await bob.send('POST', path, { rom_id: rom }, parts.map((part) => ({ name: part, fileName, content: PNG })))
      if (reply.statusCode !== 200 && reply.statusCode !== 400) t.fail(`${path} ${JSON.stringify(name)}: ${reply.statusCode} ${reply.body}`)
      if (reply.statusCode === 200) {
        const { file_name: kept } = reply.json<AssetItem>()
        // eslint-disable-next-line no-control-regex
        if (/[\0-\x1f/\\:|]/.test(kept) || kept === '..' || Buffer.byteLength(kept) > 255) t.fail(`kept as ${JSON.stringify(kept)}`)
      }
    }
  }))
  for (const emulator of ['..', '.', '../..', '/etc', 'a/b', 'C:\\x', 'a\0', ' ', '..\\..']) {
    const reply = await bob.send('POST', '/api/saves', { rom_id: rom, emulator }, [{ name: 'saveFile', fileName: 'e.srm', content: emulator }])
    t.ok([200, 400, 422].includes(reply.statusCode), `${JSON.stringify(emulator)}: ${reply.statusCode}`)
  }
  t.same(await beside(), before)
  const mine = await folderOf(test, 'bob')
  for (const path of await listStored(test)) t.match(path, new RegExp(`^${mine}/(saves|states|screenshots)/snes/${rom}/([^/]+/)?[0-9a-f]{8}-[^/]+$`))
  const { rows } = await app.pg.query<{ disk_path: string }>('select disk_path from assets union select disk_path from asset_versions')
  t.same(new Set(rows.map((row) => row.disk_path)), new Set(await listStored(test)), 'every file has a row')
  await app.pg.query('delete from assets')
})

t.test('an invalid form is refused with its reason and leaves no file', async (t) => {
  const before = await listStored(test)
  const file = { name: 'saveFile', fileName: 'Game.srm', content: 'x' }
  const cases: [string, number, Parameters<typeof alice.send>[3], Record<string, string | number | boolean>][] = [
    ['no ROM', 422, [file], {}],
    ['a ROM that is not there', 404, [file], { rom_id: 9999 }],
    ['no file', 400, [{ name: 'rom_id', content: String(rom) }], {}],
    ['a ROM that is no number', 422, [file, { name: 'rom_id', content: 'x' }], {}],
    ['a time that is none', 422, [file], { rom_id: rom, mtime: 'yesterday' }],
    ['a second that no clock of ours has', 422, [file], { rom_id: rom, mtime: '2016-12-31T23:59:60Z' }],
    ['a time of the year 10000 in UTC', 422, [file], { rom_id: rom, mtime: '9999-12-31T23:59:59-01:00' }],
    ['the same part twice', 400, [file, file], { rom_id: rom }],
    ['a device that is not there', 404, [file], { rom_id: rom, device_id: '9b2c9c80-0000-4000-8000-000000000000' }],
    ['a long field', 413, [{ name: 'slot', content: 'x'.repeat(65 * 1024 - 1) }], { rom_id: rom }],
    ['many fields', 413, [...Array.from({ length: 25 }, (_, i) => ({ name: `f${i}`, content: 'x' })), file], { rom_id: rom }],
    ['many files', 413, Array.from({ length: 8 }, (_, i) => ({ ...file, name: `f${i}` })), { rom_id: rom }]
  ]
  for (const [title, status, parts, query] of cases) {
    const reply = await alice.send('POST', '/api/saves', query, parts)
    t.equal(reply.statusCode, status, `${title}: ${reply.body.slice(0, 200)}`)
  }
  t.equal((await alice.call('POST', `/api/saves?rom_id=${rom}`)).statusCode, 400)
  t.equal((await alice.call('POST', `/api/saves?rom_id=${rom}`, { saveFile: 'x' })).statusCode, 400)
  const bad = createForm([file])
  const cut = await app.inject({
    method: 'POST', url: `/api/saves?rom_id=${rom}`, headers: { ...headers, ...bad.headers }, payload: bad.payload.subarray(0, -20)
  })
  t.equal(cut.statusCode, 400)
  const nameless = await app.inject({
    method: 'POST', url: `/api/saves?rom_id=${rom}`, headers: { ...headers, ...bad.headers }, payload: bad.payload.toString().replace('; filename="Game.srm"', '')
  })
  t.match(nameless, { statusCode: 400, body: /The name/ })
  t.same(await listStored(test), before)
})

t.test('a state has no slot, whatever slot the client sends', async (t) => {
  for (const slot of ['main', 'a\nb', 'x'.repeat(300)]) {
    const first = await alice.state({ rom_id: rom, slot }, 'Slot.state', 'state')
    t.equal(first.file_name, 'Slot.state')
  }
  await app.pg.query("delete from assets where file_name = 'Slot.state'")
})

t.test('query parameters may be form fields, and any part may be the file', async (t) => {
  const fields = Object.entries({ rom_id: String(rom), slot: 'form', emulator: 'x', overwrite: 'yes', autocleanup: '1', autocleanup_limit: '-5' })
  for (const first of [true, false]) {
    const parts = fields.map(([name, content]) => ({ name, content }))
    const file = { name: 'upload', fileName: 'Form.srm', content: `form ${first}` }
    const reply = await alice.send('POST', '/api/saves', {}, first ? [file, ...parts] : [...parts, file])
    t.match(reply.json(), { rom_id: rom, slot: 'form', emulator: 'x' })
  }
  t.equal((await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}&slot=form`)).length, 1)
})

/** Sends a raw request and reads the response. */
async function sendRaw (head: string[], write: (socket: ReturnType<typeof connect>) => void): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => { answer += chunk.toString() })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write([...head, `authorization: ${headers.authorization}`, 'host: x', '', ''].join('\r\n'))
  write(socket)
  await until(() => answer.includes('\r\n\r\n') || socket.closed, 'an answer')
  socket.destroy()
  return answer.split('\r\n')[0] ?? ''
}

t.test('V7: an upload that is too large is refused, even if its size was not announced', async (t) => {
  const before = await listStored(test)
  for (const path of ['saves', 'states', 'screenshots']) {
    const line = await sendRaw([`POST /api/${path}?rom_id=${rom} HTTP/1.1`, 'content-type: multipart/form-data; boundary=b',
      `content-length: ${LIMIT + 1}`], () => {})
    t.match(line, '413', path)
  }
  const form = createForm([{ name: 'saveFile', fileName: 'Big.srm', content: 'x'.repeat(LIMIT + 1) }])
  const chunked = await sendRaw([`POST /api/saves?rom_id=${rom} HTTP/1.1`, `content-type: ${form.headers['content-type']}`,
    'transfer-encoding: chunked'], (socket) => {
    socket.write(`${form.payload.length.toString(16)}\r\n`)
    socket.write(form.payload)
    socket.write('\r\n0\r\n\r\n')
  })
  t.match(chunked, '413')
  t.match((await alice.send('POST', '/api/saves', { rom_id: rom }, [], { 'content-length': 'many' })).statusCode, 400)
  const fits = await alice.save({ rom_id: rom }, 'Fits.srm', 'x'.repeat(LIMIT - 1000))
  t.equal(fits.file_size_bytes, LIMIT - 1000)
  t.equal((await listStored(test)).length, before.length + 1)
})

t.test('a broken upload leaves no file', async (t) => {
  const before = await listStored(test)
  const form = createForm([{ name: 'saveFile', fileName: 'Broken.srm', content: 'x'.repeat(50_000) }])
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write([`POST /api/saves?rom_id=${rom} HTTP/1.1`, `content-type: ${form.headers['content-type']}`, `content-length: ${form.payload.length}`,
    `authorization: ${headers.authorization}`, 'host: x', '', ''].join('\r\n'))
  socket.write(form.payload.subarray(0, 30_000))
  await until(async () => (await listStored(test)).some((path) => path.includes('/incoming/')), 'a staged part')
  socket.destroy()
  await until(async () => !(await listStored(test)).some((path) => path.includes('/incoming/')), 'its end')
  t.same(await listStored(test), before)
  t.notOk((await alice.get<AssetItem[]>('/api/saves')).some(({ file_name: name }) => name === 'Broken.srm'))
})

t.test('uploads stop at the quota and at the last free space', async (t) => {
  const content = (i: number) => String(i).repeat(LIMIT - 1000)
  const part = (i: number) => [{ name: 'saveFile', fileName: `Quota ${i}.srm`, content: content(i) }]
  let status = 200
  let i = 1
  for (; status === 200 && i < 8; i++) status = (await alice.send('POST', '/api/saves', { rom_id: rom }, part(i))).statusCode
  t.equal(status, 507)
  t.ok(i > 3)
  t.equal((await bob.send('POST', '/api/saves', { rom_id: rom }, part(1))).statusCode, 200, 'others are not concerned')
  const stored = await listStored(test)
  t.notOk(stored.some((path) => path.includes('/incoming/')))
  const free = await app.inject({ url: '/api/saves', headers })
  t.equal(free.statusCode, 200)
})

t.test('an upload that loses the database is 503, not a form that cannot be read', async (t) => {
  const other = new pg.Client({ connectionString: app.databaseUrl })
  await other.connect()
  t.teardown(() => other.end())
  const created = await app.inject({
    method: 'POST', url: '/api/client-tokens', headers, payload: { name: 'app', scopes: ['me.read', 'assets.write'] }
  })
  const token = bearer(created.json<{ raw_token: string }>().raw_token)
  // From now on the caller is cached for a second.
  await app.inject({ url: '/api/users/me', headers: token })
  await other.query('begin')
  await other.query('lock table users in access exclusive mode')
  const form = createForm([{ name: 'saveFile', fileName: 'Lost.srm', content: 'lost' }])
  const upload = app.inject({
    method: 'POST', url: `/api/saves?rom_id=${rom}`, payload: form.payload, headers: { ...token, ...form.headers }
  })
  // Background work of the scan worker waits for the lock too.
  const end = async () => (await other.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'svc web' and wait_event_type = 'Lock'`)).rowCount
  await until(async () => await end() !== 0, 'a session that waits for the lock')
  await other.query('rollback')
  t.match(await upload, { statusCode: 503 })
})
