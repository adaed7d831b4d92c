import type { InjectOptions } from 'fastify'
import { type Socket, io } from 'socket.io-client'
import t from 'tap'
import { listPluginPackages } from '../../../core/loader/packages/packages.ts'
import { announceRoms } from '../../../plugins/editing/events.ts'
import { createAnnouncer } from '../../../plugins/scans/progress/announcer.ts'
import { createListeners } from '../../../plugins/scans/progress/listeners.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'

type Headers = Record<string, string>
interface Parameter { name: string, in: string }
interface Operation { method: string, path: string, scopes: readonly string[], parameters: readonly Parameter[] }
interface Document {
  paths: Record<string, Record<string, { security?: Record<string, string[]>[], parameters?: Parameter[] }>>
}

const test = await buildTestApp(t, {
  worker: true,
  env: { DISABLE_DOWNLOAD_ENDPOINT_AUTH: 'true', SVC_SOCKETS_GUESTS: 'all' },
  packages: listPluginPackages('').filter(({ name }) => name === '@svc/exporter-gamelist'),
  library: {
    roms: {
      snes: { 'Open Harbor.sfc': 'open', 'Secret Harbor.sfc': 'secret', 'Grown Harbor.sfc': 'grown', 'Unrated Harbor.sfc': 'unrated' },
      veiledbox: { 'Veiled Quay.bin': 'veiled' }
    },
    bios: { veiledbox: { 'veiled-bios.rom': 'firmware' } }
  }
})
const { app, admin, createUser } = test
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const [alice, bob, stranger]: [Headers, Headers, Headers] = [await createUser('alice'), await createUser('bob'), {}]

const call = (options: InjectOptions, headers: Headers = admin) => app.inject({ ...options, headers })

async function scan (): Promise<void> {
  const { task_id: id } = (await call({ method: 'POST', url: '/api/tasks/scan' })).json<{ task_id: string }>()
  await until(async () => (await call({ url: `/api/tasks/${id}` })).json<{ status: string }>().status === 'finished', 'the scan ended')
}

async function permit (path: string, payload: object): Promise<void> {
  const method = path.startsWith('users') ? 'PUT' : 'POST'
  const reply = await call({ method, url: `/api/permissions/${path}`, payload })
  if (reply.statusCode !== 200) throw new Error(`${path}: ${reply.body}`)
}

// Numbers that occur nowhere else in a response.
const FIRST_IDS = { roms: 770_001, platforms: 880_001, rom_files: 990_001, firmware: 660_001 }
for (const [table, first] of Object.entries(FIRST_IDS)) {
  await app.pg.query(`alter sequence ${table}_id_seq restart with ${first}`)
}
await scan()

interface Facts {
  id: number
  file_id: number
  platform_id: number
  /** The first word of its name, genre and region. */
  word: string
  crc_hash: string
  md5_hash: string
  sha1_hash: string
}
const { rows } = await app.pg.query<Facts>(`select r.id, f.id as file_id, r.platform_id,
  split_part(r.fs_name, ' ', 1) as word, f.crc_hash, f.md5_hash, f.sha1_hash from roms r join rom_files f on f.rom_id = r.id`)
function romOf (word: string): Facts {
  const row = rows.find((one) => one.word === word)
  if (row === undefined) throw new Error(`The scan did not find '${word}'`)
  return row
}
const [open, secret, grown] = [romOf('Open'), romOf('Secret'), romOf('Grown')]
const [unrated, veiled] = [romOf('Unrated'), romOf('Veiled')]
const HIDDEN = [secret, grown, unrated, veiled]
const { rows: [firmware] } = await app.pg.query<{ id: number, md5_hash: string }>('select id, md5_hash from firmware')

/** The visible and the secret ROM are the same game. */
const IGDB_IDS = new Map([[open, 515_151], [secret, 515_151], [grown, 535_353], [unrated, 545_454], [veiled, 525_252]])
for (const [rom, igdbId] of IGDB_IDS) {
  await app.pg.query("insert into rom_matches (rom_id, provider, provider_id, match) values ($1, 'igdb', $2, $3)",
    [rom.id, String(igdbId), { id: igdbId, metadata: {} }])
  await app.pg.query('update roms set genres = $2, regions = $2, is_identified = true, min_age = $3 where id = $1',
    [rom.id, [`${rom.word} things`], rom === unrated ? null : rom === grown ? 18 : 6])
}
const { rows: users } = await app.pg.query<{ id: number, username: string }>('select id, username from users')
const idOf = (username: string) => users.find((user) => user.username === username)?.id ?? 0
const { rows: groups } = await app.pg.query<{ id: number, is_default: boolean }>('select id, is_default from permission_groups')
const [members, editors] = [true, false].map((isDefault) => groups.find((group) => group.is_default === isDefault)?.id)
await permit(`users/${idOf('alice')}`, { set_age_settings: true, age_limit: 12, hide_unrated_roms: true })
await permit(`users/${idOf('bob')}`, { set_group: true, permission_group_id: editors })
await permit('hidden', { entity: 'roms', entity_id: secret.id, user_id: idOf('alice') })
await permit('hidden', { entity: 'platforms', entity_id: veiled.platform_id, group_id: members })

/** Values that would reveal hidden objects to alice. */
const NEEDLES = [
  ...HIDDEN.flatMap(({ platform_id: _platform, ...rom }) => Object.values(rom).map(String)),
  String(veiled.platform_id), 'veiledbox', 'veiled-bios', String(firmware?.id), firmware?.md5_hash ?? '', '535353', '545454', '525252'
].map((text) => text.toLowerCase())
const leaksIn = (body: string) => NEEDLES.filter((needle) => body.toLowerCase().includes(needle))

const ABSENT: Facts = {
  id: 779_999, file_id: 999_999, platform_id: 889_999, word: 'Absent', crc_hash: '0'.repeat(8), md5_hash: '0'.repeat(32),
  sha1_hash: '0'.repeat(40)
}

/** Returns the value with which a parameter refers to a ROM; null for a parameter that refers to no ROM. */
function valueFor ({ name }: Parameter, path: string, rom: Facts): string | null {
  if (name === 'id') return String(path.startsWith('/api/platforms') ? rom.platform_id : rom.id)
  if (name === 'file_id' || name === 'file_ids') return String(rom.file_id)
  if (name === 'rom_id' || name === 'rom_ids') return String(rom.id)
  if (name === 'platform_id' || name === 'platform_ids') return String(rom.platform_id)
  if (name === 'crc_hash' || name === 'md5_hash' || name === 'sha1_hash') return rom[name]
  if (name === 'ra_hash') return rom.md5_hash
  if (name === 'igdb_id') return String(IGDB_IDS.get(rom) ?? 1)
  if (name === 'genres' || name === 'regions') return `${rom.word} things`
  return name === 'search_term' || name === 'file_name' ? rom.word : null
}

async function listOperations (): Promise<Operation[]> {
  const document = (await call({ url: '/openapi.json' })).json<Document>()
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, parameters = [] }]) =>
      ({ method, path, scopes: security?.[0]?.session ?? [], parameters })))
}

/** Lists calls of an operation about a ROM: with its path filled in, and with each parameter of its query in turn. */
function listCalls ({ path, parameters }: Operation, rom: Facts): string[] {
  const filled = parameters.filter((parameter) => parameter.in === 'path').reduce((at, parameter) =>
    at.replace(`{${parameter.name}}`, encodeURIComponent(valueFor(parameter, path, rom) ?? '1')), path)
  const queries = parameters.filter((parameter) => parameter.in === 'query').flatMap((parameter) => {
    const value = valueFor(parameter, path, rom)
    return value === null ? [] : [`${filled}?${parameter.name}=${encodeURIComponent(value)}`]
  })
  return [filled, ...queries]
}

const operations = await listOperations()
const { oauth_scopes: scopes } = (await call({ url: '/api/users/me' }, alice)).json<{ oauth_scopes: string[] }>()
const READS = operations.filter((operation) => operation.method === 'get' &&
  operation.scopes.every((scope) => scopes.includes(scope)))

t.test('V9: no route that a member may read reveals hidden objects', async (t) => {
  t.ok(READS.length > 20, `${READS.length} operations`)
  const [seen, known]: string[][] = [[], []]
  for (const operation of READS) {
    for (const path of listCalls(operation, ABSENT)) {
      const reply = await call({ url: path }, alice)
      t.same(leaksIn(reply.body), [], `${path} answers ${reply.statusCode}`)
      seen?.push(reply.body)
    }
    known?.push((await call({ url: listCalls(operation, ABSENT)[0] ?? '' }, bob)).body)
  }
  for (const word of ['Open', String(open.id)]) t.ok(seen?.some((body) => body.includes(word)), `alice sees ${word}`)
  const told = HIDDEN.flatMap(({ id, word }) => [String(id), word])
  for (const needle of [...told, 'veiledbox', 'veiled-bios']) {
    t.ok(known?.some((body) => body.includes(needle)), `bob sees ${needle}`)
  }
})

/** Replaces the requested values in a response by those of absent objects. */
function asAbsent (body: string, rom: Facts): string {
  // The platform of a hidden ROM may be visible, unless the platform itself is hidden.
  const keys = (['id', 'file_id', 'word'] as const).map((key) => [rom[key], ABSENT[key]] as const)
  return [...keys, ...rom === veiled ? [[rom.platform_id, ABSENT.platform_id] as const] : []]
    .reduce((text, [own, absent]) => text.replaceAll(String(own), String(absent)), body)
}

const VISIBLE = new RegExp(`=515151$|\\b${open.platform_id}\\b`)

for (const [name, headers, hidden] of [['member', alice, HIDDEN], ['stranger', stranger, [veiled]]] as const) {
  t.test(`V9: a ${name} gets the same answers for hidden as for absent objects`, async (t) => {
    const answers = new Map<string, ReturnType<typeof call>>()
    /** Requests each absent object once, because several hidden ones are compared with it. */
    const callOnce = (url: string) => {
      const answer = answers.get(url) ?? call({ url }, headers)
      answers.set(url, answer)
      return answer
    }
    for (const rom of hidden) {
      for (const operation of READS) {
        const [about, absent] = [listCalls(operation, rom), listCalls(operation, ABSENT)]
        for (const [index, path] of about.entries()) {
          // Calls without a hidden value were checked above. The platform, and the game at IGDB, may belong to a
          // visible ROM.
          if (path === absent[index] || VISIBLE.test(path)) continue
          const reply = await call({ url: path }, headers)
          const expected = await callOnce(absent[index] ?? '')
          t.equal(reply.statusCode, expected.statusCode, path)
          t.equal(asAbsent(reply.body, rom), expected.body, path)
        }
      }
    }
  })
}

t.test('hidden objects cannot be downloaded, marked or exported either', async (t) => {
  for (const rom of HIDDEN) {
    for (const options of [
      { method: 'HEAD', url: `/api/roms/${rom.id}/content/x` }, { url: `/api/roms/${rom.id}/content/x` },
      { url: `/api/roms/${rom.file_id}/files/content/x` }, { url: `/api/roms/download?rom_ids=${rom.id}` },
      { method: 'PUT', url: `/api/roms/${rom.id}/props`, payload: { backlogged: true } }
    ] as const) {
      t.equal((await call(options, alice)).statusCode, 404, `${options.url} by alice`)
      t.equal((await call(options, bob)).statusCode, 200, `${options.url} by bob`)
    }
  }
  const zip = await call({ url: `/api/roms/download?rom_ids=${rows.map(({ id }) => id).join(',')}` }, alice)
  t.equal(zip.statusCode, 200)
  t.same(leaksIn(zip.rawPayload.toString('latin1')), [], 'of many only those that she sees')

  const exported = (headers: Headers, payload: object = {}) => call({ method: 'POST', url: '/api/export/gamelist-xml', payload }, headers)
  await app.pg.query(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'roms', 'write', false from permission_groups where is_default`)
  const outcome = await exported(alice)
  t.same([outcome.statusCode, leaksIn(outcome.body)], [200, []])
  t.match(outcome.json(), { files: [{ platform: 'snes', games: 1 }] })
  t.match((await exported(bob)).json(), { files: [{ games: 4 }, { platform: 'veiledbox', games: 1 }] })
  const [hidden, absent] = [await exported(alice, { platforms: ['veiledbox'] }), await exported(alice, { platforms: ['absentbox'] })]
  t.same([hidden.statusCode, hidden.body.replace('veiledbox', 'absentbox')], [404, absent.body])
})

t.test('counts, groups and values cover only visible objects', async (t) => {
  const json = async (path: string, headers: Headers): Promise<unknown> => (await call({ url: path }, headers)).json()
  const page = '/api/roms?order_by=id&with_rom_id_index=true'
  t.match(await json(page, alice), { total: 1, rom_id_index: [open.id], char_index: { o: 0 }, filter_values: { genres: ['Open things'] } })
  t.match(await json(page, bob), { total: 5, rom_id_index: { length: 5 } })
  t.match(await json('/api/roms?duplicate=true', alice), { total: 0 }, 'its only sibling is hidden')
  t.match(await json('/api/roms?duplicate=true', bob), { total: 2 })
  t.match(await json(`/api/roms/${open.id}`, alice), { sibling_roms: [] })
  t.match(await json(`/api/roms/${open.id}`, bob), { sibling_roms: [{ id: secret.id }] })
  t.match(await json('/api/roms/by-metadata-provider?igdb_id=515151', alice), { id: open.id })
  t.match(await json('/api/platforms', alice), [{ slug: 'snes', rom_count: 1, fs_size_bytes: 4 }])
  t.match(await json('/api/platforms', bob), [{ rom_count: 4 }, { firmware_count: 1, rom_count: 1 }])
  t.match(await json('/api/heartbeat', alice), { FILESYSTEM: { FS_PLATFORMS: ['snes'] } })
  t.match(await json('/api/heartbeat', stranger), { FILESYSTEM: { FS_PLATFORMS: { length: 0 } } })
  t.match(await json('/api/heartbeat', bob), { FILESYSTEM: { FS_PLATFORMS: ['snes', 'veiledbox'] } })
})

async function connect (headers: Headers): Promise<Socket> {
  const cookies = headers.authorization === undefined ? [] : (await call({ method: 'POST', url: '/api/login' }, headers)).cookies
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnection: false, forceNew: true, extraHeaders: { cookie } })
  t.teardown(() => { socket.disconnect() })
  await new Promise((resolve) => { socket.once('connect', () => { resolve(null) }) })
  return socket
}

t.test('events about hidden objects reach only callers who see them, and no guests', async (t) => {
  const sockets = { alice: await connect(alice), bob: await connect(bob), guest: await connect(stranger) }
  await until(() => ['alice', 'bob'].every((name) => app.sockets.main.sockets.adapter.rooms.has(`user:${idOf(name)}`)), 'both are known')
  const heard = Object.entries(sockets).map(async ([name, socket]) => {
    const words: string[] = []
    socket.on('scan:scanning_rom', ({ id }: { id: number }) => { words.push(rows.find((rom) => rom.id === id)?.word ?? String(id)) })
    socket.on('scan:scanning_platform', ({ fs_slug: folder }: { fs_slug: string }) => { words.push(folder) })
    await new Promise((resolve) => { socket.once('scan:done', resolve) })
    return [name, words.sort()]
  })
  const listeners = createListeners(app, app.log)
  t.teardown(() => { listeners.close() })
  const announcer = createAnnouncer(app, test.config, listeners)
  await announcer.roms(rows.map(({ id }) => id), { is_new: false, is_identifying: false })
  await scan()
  t.same(Object.fromEntries(await Promise.all(heard)), {
    alice: ['Open', 'snes'], bob: ['Grown', 'Open', 'Secret', 'Unrated', 'Veiled', 'snes', 'veiledbox'], guest: ['Open', 'snes']
  })
})

t.test('events with data of the library reach only users whose grants allow to read it', async (t) => {
  const refuse = (...entities: string[]) => permit(`users/${idOf('alice')}`,
    { overrides: entities.map((entity) => ({ entity, action: 'read', granted: false })) })
  await refuse('roms', 'platforms')
  t.teardown(() => refuse())
  t.equal((await call({ url: '/api/roms' }, alice)).statusCode, 403)
  const sockets = { alice: await connect(alice), bob: await connect(bob) }
  await until(() => ['alice', 'bob'].every((name) => app.sockets.main.sockets.adapter.rooms.has(`user:${idOf(name)}`)), 'both are known')
  const events = ['rom:updated', 'scan:scanning_rom', 'scan:scanning_platform']
  const heard = Object.entries(sockets).map(async ([name, socket]) => {
    const names = new Set<string>()
    socket.onAny((event: string) => { if (events.includes(event)) names.add(event) })
    await new Promise((resolve) => { socket.once('scan:done', resolve) })
    return [name, events.filter((event) => names.has(event))]
  })
  const listeners = createListeners(app, app.log)
  t.teardown(() => { listeners.close() })
  const announcer = createAnnouncer(app, test.config, listeners)
  await announcer.roms([open.id], { is_new: false, is_identifying: false })
  await announceRoms(app, test.config, [open.id])
  await scan()
  t.same(Object.fromEntries(await Promise.all(heard)), { alice: [], bob: events })
})

t.test('guests get no events about objects hidden from the default group', async (t) => {
  await app.pg.query('update users set permission_group_id = $1 where permission_group_id is null', [editors])
  await app.pg.query('delete from hidden_entities where user_id is not null')
  await app.pg.query('update users set age_limit = null, hide_unrated_roms = null')
  await app.pg.query('update permission_groups set age_limit = 12 where is_default')
  const audiences = await app.permissions.listAudiences(app.db, rows.map(({ id }) => id))
  t.same([...audiences.keys()].sort(), [grown.id, veiled.id].sort())
  t.same(audiences.get(grown.id)?.sort(), users.map(({ id }) => id).sort())
})
