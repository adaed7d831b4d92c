import fc from 'fast-check'
import t from 'tap'
import { readTime } from '../../../core/database/times.ts'
import type { PlaySessionIngestResponse, PlaySessionView, PlayTotalsView } from '../../../plugins/play-sessions/schemas.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom, countQueries } from '../roms/support.ts'

type Headers = Record<string, string>

const test = await buildTestApp(t)
const { app, admin } = test
const alice = await test.createUser('alice')
const bob = await test.createUser('bob')
const secret = await addRom(test, { fs_name: 'Secret.sfc' })

async function insert (sql: string, values: unknown[] = []): Promise<number> {
  const { rows: [row] } = await app.pg.query<{ id: number }>(`${sql} returning id`, values)
  return row?.id ?? 0
}

const { rows: users } = await app.pg.query<{ id: number, username: string }>('select id, username from users')
const idOf = (name: string) => users.find((user) => user.username === name)?.id ?? 0
await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [secret, idOf('alice')])

let made = 0
const makeRom = () => addRom(test, { fs_name: `Game ${++made}.sfc` })

async function makeDevice (username: string): Promise<{ id: number, device_id: string }> {
  const id = await insert('insert into devices (user_id) values ($1)', [idOf(username)])
  const { rows: [row] } = await app.pg.query<{ device_id: string }>('select device_id from devices where id = $1', [id])
  return { id, device_id: row?.device_id ?? '' }
}

const send = (payload: object, headers: Headers = alice) =>
  app.inject({ method: 'POST', url: '/api/play-sessions', headers, payload })

async function post (payload: object, headers: Headers = alice): Promise<PlaySessionIngestResponse> {
  const reply = await send(payload, headers)
  if (reply.statusCode !== 201) throw new Error(reply.body)
  return reply.json<PlaySessionIngestResponse>()
}

async function list (query = '', headers: Headers = alice): Promise<PlaySessionView[]> {
  const reply = await app.inject({ url: `/api/play-sessions${query}`, headers })
  if (reply.statusCode !== 200) throw new Error(reply.body)
  return reply.json<PlaySessionView[]>()
}

const marksOf = async (rom: number, username = 'alice') => (await app.pg.query<Record<string, unknown>>(
  'select last_played, now_playing, status from rom_users where rom_id = $1 and user_id = $2', [rom, idOf(username)])).rows[0]

/** Returns an hour of a day in March 2026, in the dialect of released apps. */
function entry (day: number, romId: number | null, more: object = {}) {
  const date = `2026-03-${String(day).padStart(2, '0')}`
  return { rom_id: romId, start_time: `${date}T10:00:00Z`, end_time: `${date}T11:00:00Z`, duration_ms: 3_600_000, ...more }
}
const hour = (at: string) => ({ start: `${at}:00:00Z`, end: `${at}:30:00Z`, duration_seconds: 1_800 })
/** Returns half an hour of the first of a month. */
const inYear = (year: number, month: number, romId: number | null) => ({ rom_id: romId, ...hour(`${year}-0${month}-01T10`) })

t.test('both dialects are stored alike, and responses contain both', async (t) => {
  const [rom, device] = [await makeRom(), await makeDevice('alice')]
  const given = await post({
    device_id: device.device_id,
    sessions: [
      { rom_id: rom, ...hour('2026-01-02T10') },
      { rom_id: rom, start_time: '2026-01-03T10:00:00.900', end_time: '2026-01-03T12:30:00.1+02:00', duration_ms: 1_800_499, save_slot: 'b' }
    ]
  })
  t.match(given, { created_count: 2, skipped_count: 0, results: [{ index: 0, status: 'created', id: Number, detail: null }, { index: 1 }] })
  const common = { user_id: idOf('alice'), device_id: device.device_id, rom_id: rom, sync_session_id: null }
  t.match(await list(`?rom_id=${rom}`), [
    {
      ...common, save_slot: 'b', start: '2026-01-03T10:00:00+00:00', start_time: '2026-01-03T10:00:00+00:00',
      end: '2026-01-03T10:30:00+00:00', end_time: '2026-01-03T10:30:00+00:00', duration_seconds: 1_800, duration_ms: 1_800_499
    },
    { ...common, save_slot: null, start: '2026-01-02T10:00:00+00:00', duration_seconds: 1_800, duration_ms: 1_800_000 }
  ])
})

t.test('play sessions come in a list of either name, or as a single entry', async (t) => {
  const rom = await makeRom()
  t.match(await post({ sessions: [entry(1, rom)] }), { created_count: 1 })
  t.match(await post({ play_sessions: [entry(2, rom)] }), { created_count: 1 })
  t.match(await post({ rom_id: rom, ...hour('2026-03-03T10') }), { created_count: 1, results: [{ index: 0 }] })
  t.match(await post(entry(4, rom)), { created_count: 1 })
  t.equal((await list(`?rom_id=${rom}`)).length, 4)
  const two = { sessions: [entry(5, rom)], play_sessions: [entry(5, rom)] }
  for (const body of [{}, { device_id: 1 }, two, { ...entry(5, rom), sessions: [] }]) {
    t.equal((await send(body)).statusCode, 422, JSON.stringify(body))
  }
  t.equal((await send({ sessions: [] })).statusCode, 400)
  const many = (count: number) =>
    ({ sessions: Array.from({ length: count }, (_, i) => inYear(1970 + i % 51, i < 51 ? 1 : 2, rom)) })
  t.match((await send(many(101))).json(), { detail: 'There are 101 play sessions in the request; send 1 to 100' })
  const queries = await countQueries(test, async () => { t.match(await post(many(100)), { created_count: 100 }) })
  t.ok(queries <= 5, `${queries} connections`)
})

t.test('a play session without a duration lasted from its start to its end', async (t) => {
  const rom = await addRom(test, { fs_name: 'Timeless.sfc' })
  const sent = [
    { rom_id: rom, start_time: '2025-05-01T10:00:00Z', end_time: '2025-05-01T10:00:30.9Z' },
    { rom_id: rom, start: '2025-05-02T10:00:00Z', end: '2025-05-02T11:00:00Z' }
  ]
  t.match(await post({ sessions: sent }), { created_count: 2 })
  t.same((await list(`?rom_id=${rom}`)).map(({ duration_ms: duration }) => duration), [3_600_000, 30_000])
})

t.test('a body with an invalid entry is refused whole, with the path of the error', async (t) => {
  const cases: [object, string][] = [
    [{ start: '2026-01-01T10:00:00Z', duration_seconds: 1 }, 'end'],
    [{ start: '2026-01-01T10:00:00Z', end_time: '2026-01-01T11:00:00Z', duration_ms: 1 }, ''],
    [{ rom_id: 1 }, ''],
    [entry(1, 1, { end_time: '2026-03-01T10:00:00.999Z' }), 'end_time'],
    [entry(1, 1, { end_time: 'soon' }), 'end_time'],
    [entry(1, 1, { start_time: '2026-02-30T10:00:00Z' }), 'start_time'],
    [entry(1, 1, { start_time: '0000-01-01T00:00:00Z' }), 'start_time'],
    [entry(1, 1, { duration_ms: -1 }), 'duration_ms'],
    [entry(1, 1, { duration_ms: 1.5 }), 'duration_ms'],
    [entry(1, 1, { save_slot: 'a\u0000' }), 'save_slot'],
    [entry(1, 1, { save_slot: 'a'.repeat(256) }), 'save_slot'],
    [entry(1, 1, { rom_id: 'x' }), 'rom_id']
  ]
  for (const [wrong, name] of cases) {
    const reply = await send({ sessions: [entry(9, null), wrong] })
    t.equal(reply.statusCode, 422, reply.body)
    t.same(reply.json<{ detail: { loc: unknown[] }[] }>().detail[0]?.loc, ['body', 'sessions', 1, ...name === '' ? [] : [name]])
  }
  t.same((await send({ ...hour('2026-01-01T10'), end: 'soon' })).json<{ detail: { loc: unknown[] }[] }>().detail[0]?.loc, ['body', 'end'])
  t.same(await list('?start_after=2026-03-09T00:00:00&end_before=2026-03-09T23:00:00'), [], 'nothing of them is stored')
})

t.test('an impossible entry fails alone; results have the index of their entry', async (t) => {
  const rom = await makeRom()
  const soon = new Date(Date.now() + 10 * 60_000).toISOString()
  const given = await post({
    sessions: [
      entry(6, rom),
      entry(6, rom, { save_slot: 'again' }),
      entry(7, rom, { end_time: soon }),
      entry(8, rom, { duration_ms: 3_660_001 }),
      entry(9, rom, { duration_ms: 3_660_000 }),
      entry(10, rom, { duration_ms: 1e300 })
    ]
  })
  t.match(given, {
    created_count: 4,
    skipped_count: 2,
    results: [
      { index: 2, status: 'error', id: null, detail: /in the future; set the clock/ },
      { index: 1, status: 'duplicate', id: null, detail: null },
      { index: 0, status: 'created', id: Number, detail: null },
      { index: 3, status: 'created', detail: /3660001 ms is longer than from start to end and was reduced to 3600000 ms/ },
      { index: 4, status: 'created', detail: null },
      { index: 5, status: 'created', detail: /was reduced/ }
    ]
  })
  t.same((await list(`?rom_id=${rom}`)).map((one) => one.duration_ms), [3_600_000, 3_660_000, 3_600_000, 3_600_000])
})

t.test('an entry is stored once, even if several clients send it at the same time', async (t) => {
  const [rom, device] = [await makeRom(), await makeDevice('alice')]
  const entries = Array.from({ length: 20 }, (_, i) => entry(i + 1, i % 2 === 0 ? rom : null))
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) =>
    post({ device_id: device.id, sessions: i % 2 === 0 ? entries : entries.toReversed() })))
  t.equal(answers.reduce((sum, answer) => sum + answer.created_count, 0), 20)
  t.equal((await list(`?device_id=${device.id}`)).length, 20)
  t.match(await post({ sessions: entries }, bob), { created_count: 20 }, "another user's are others")
  t.match(await post({ sessions: entries }), { created_count: 20 }, 'so are those of no device')
  await app.pg.query('delete from devices where id = $1', [device.id])
  t.match(await post({ sessions: entries }), { created_count: 0, skipped_count: 20 }, 'but not again')
})

t.test('playing only moves the last time forward, and reopens a finished game', async (t) => {
  const rom = await makeRom()
  await post({ sessions: [entry(5, rom), entry(3, rom)] })
  const at = new Date('2026-03-05T11:00:00Z')
  t.same(await marksOf(rom), { last_played: at, now_playing: true, status: 'incomplete' })
  await app.pg.query("update rom_users set now_playing = false, status = 'finished' where rom_id = $1", [rom])
  await post({ sessions: [entry(4, rom)] })
  t.same(await marksOf(rom), { last_played: at, now_playing: false, status: 'finished' }, 'an earlier one changes nothing')
  await post({ sessions: [entry(6, rom), entry(5, rom)] })
  t.same(await marksOf(rom), { last_played: new Date('2026-03-06T11:00:00Z'), now_playing: true, status: 'incomplete' })
  for (const status of ['completed_100', 'retired', 'never_playing']) {
    await app.pg.query('update rom_users set status = $2, last_played = null where rom_id = $1', [rom, status])
    await post({ rom_id: rom, ...hour(`2026-04-0${status.length % 7 + 1}T10`) })
    t.match(await marksOf(rom), { status, now_playing: true })
  }
  const db = app.db
  await app.roms.storeLastPlayed(db, idOf('bob'), rom, at)
  await app.roms.storeLastPlayed(db, idOf('bob'), rom, new Date(0))
  await app.roms.storeLastPlayed(db, idOf('bob'), 2_000_000, at)
  t.same(await marksOf(rom, 'bob'), { last_played: at, now_playing: false, status: null })
})

t.test('unknown, hidden and later hidden ROMs are null in play sessions', async (t) => {
  const rom = await makeRom()
  const named = [1_999_999, secret, 9_007_199_254_740_991, -1, rom]
  const { results } = await post({ sessions: named.map((id, i) => entry(11 + i, id)) })
  t.equal(results.length, 5)
  const span = '?start_after=2026-03-11T00:00:00Z&end_before=2026-03-15T23:00:00Z'
  const stored = async () => (await list(span)).filter(({ id }) => results.some((result) => result.id === id))
    .map((one) => one.rom_id)
  t.same(await stored(), [rom, null, null, null, null])
  t.equal(await marksOf(secret), undefined)
  t.same(await list(`?rom_id=${secret}`), [])
  await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [rom, idOf('alice')])
  t.same(await stored(), [null, null, null, null, null])
  t.same(await list(`?rom_id=${rom}`), [])
  for (const query of ['', `?rom_id=${rom}`]) {
    const reply = await app.inject({ url: `/api/play-sessions/totals${query}`, headers: alice })
    t.notOk(reply.json<PlayTotalsView[]>().some((one) => one.rom_id === rom), query)
  }
  t.match(await list(`?rom_id=${rom}&user_id=${idOf('alice')}`, admin), [{ rom_id: rom }])
})

t.test("a device of another user becomes null; without one, the token's device is used", async (t) => {
  const [own, second, foreign] = [await makeDevice('alice'), await makeDevice('alice'), await makeDevice('bob')]
  for (const [i, device] of [foreign.id, foreign.device_id, 'nothing', 1_999_999].entries()) {
    const { results } = await post({ device_id: device, sessions: [inYear(2001 + i, 1, null)] })
    t.ok((await list('?end_before=2004-02-01T00:00:00Z&start_after=2001-01-01T00:00:00Z')).some((one) => one.id === results[0]?.id && one.device_id === null), String(device))
  }
  const { raw_token: raw, id } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: alice, payload: { name: 'x', scopes: ['roms.user.read', 'roms.user.write'] }
  })).json<{ raw_token: string, id: number }>()
  await app.pg.query('update client_tokens set device_id = $2 where id = $1', [id, own.id])
  const token = { authorization: `Bearer ${raw}` }
  t.match(await post({ sessions: [entry(20, null)] }, token), { created_count: 1 })
  t.match(await post({ device_id: second.id, sessions: [entry(20, null)] }, token), { created_count: 1 })
  t.match(await list(`?device_id=${own.id}`, token), [{ device_id: own.device_id }])
  for (const device of [second.id, second.device_id, foreign.id, 'nothing']) {
    t.equal((await app.inject({ url: `/api/play-sessions?device_id=${device}`, headers: token })).statusCode, 403)
  }
  const totals = async () => (await app.inject({ url: '/api/play-sessions/totals', headers: token })).json<PlayTotalsView[]>()
  const rom = await makeRom()
  await post({ device_id: second.id, sessions: [entry(21, rom)] })
  t.same(await totals(), [])
  t.same(new Set((await list('', token)).map((one) => one.device_id)), new Set([own.device_id]), 'its own where none is named')
  await app.pg.query("update client_tokens set scopes = scopes || '{devices.read}'::text[] where id = $1", [id])
  const url = `/api/play-sessions?device_id=${second.device_id}`
  await until(async () => (await app.inject({ url, headers: token })).statusCode === 200, 'the new scope counts')
  t.match(await list(`?device_id=${second.device_id}`, token), [{ device_id: second.device_id }, {}])
  t.ok(new Set((await list('', token)).map((one) => one.device_id)).size > 1, 'all where it may read devices')
  t.ok((await totals()).some((one) => one.rom_id === rom))
  for (const device of [foreign.id, foreign.device_id, 'nothing']) t.same(await list(`?device_id=${device}`), [])
  const { rows } = await app.pg.query('select 1 from devices where last_seen is not null and id in ($1, $2)', [own.id, second.id])
  t.equal(rows.length, 2, 'both were seen')
})

t.test('lists are sorted by start, with pages or within a time', async (t) => {
  const rom = await makeRom()
  await post({
    sessions: Array.from({ length: 60 }, (_, i) => inYear(1980 + i % 45, i < 45 ? 1 : 2, rom))
  }, bob)
  const days = async (query: string) => (await list(`?rom_id=${rom}${query}`, bob)).map((one) => one.start.slice(0, 7))
  t.equal((await days('')).length, 50)
  t.same(await days('&limit=2'), ['2024-01', '2023-01'])
  t.same(await days('&limit=1&offset=1'), ['2023-01'])
  t.equal((await days('&start_after=1980-01-01T00:00:00Z')).length, 60, 'all of a time')
  t.equal((await days('&end_before=2026-01-01T00:00:00Z')).length, 60)
  t.same(await days('&start_after=1980-01-01T10:00:00&end_before=1980-02-01T10:00:00%2B00:00'), ['1980-02', '1980-01'], 'bounds included')
  t.same(await days('&end_before=1980-02-01T09:59:59Z&limit=5'), ['1980-01'])
  for (const query of [
    'limit=0', 'limit=10001', 'offset=-1', 'start_after=soon', 'end_before=1969-01-01T00:00:00Z',
    'end_before=9999-12-31T23:59:59-01:00', 'rom_id=x', 'user_id=0'
  ]) {
    t.equal((await app.inject({ url: `/api/play-sessions?${query}`, headers: bob })).statusCode, 422, query)
  }
})

t.test('play sessions of another user need the right to read accounts', async (t) => {
  const { raw_token: raw } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'narrow', scopes: ['me.read'] }
  })).json<{ raw_token: string }>()
  for (const path of ['', '/totals']) {
    const url = `/api/play-sessions${path}?user_id=${idOf('bob')}`
    t.equal((await app.inject({ url, headers: alice })).statusCode, 403)
    t.equal((await app.inject({ url, headers: { authorization: `Bearer ${raw}` } })).statusCode, 403)
    t.ok((await app.inject({ url, headers: admin })).json<unknown[]>().length > 0)
    t.equal((await app.inject({ url, headers: bob })).statusCode, 200, 'the own id is no other')
  }
})

t.test('totals contain the playing time of each ROM, last played first', async (t) => {
  const [first, second] = [await makeRom(), await makeRom()]
  const carol = await test.createUser('carol')
  const short = entry(3, first, { duration_ms: 1_000 })
  await post({ sessions: [entry(1, first), short, entry(2, second), entry(4, null)] }, carol)
  await post({ sessions: [entry(25, first)] }, bob)
  const totals = async (query = '') =>
    (await app.inject({ url: `/api/play-sessions/totals${query}`, headers: carol })).json<PlayTotalsView[]>()
  t.same(await totals(), [
    { rom_id: first, total_ms: 3_601_000, sessions: 2, last_played: '2026-03-03T11:00:00+00:00' },
    { rom_id: second, total_ms: 3_600_000, sessions: 1, last_played: '2026-03-02T11:00:00+00:00' }
  ])
  t.match(await totals(`?rom_id=${second}`), [{ rom_id: second }])
  t.match(await totals('?limit=1&offset=1'), [{ rom_id: second }])
})

t.test('only the player deletes a session; deleting ROM, device or user leaves no link', async (t) => {
  const [rom, device, dave] = [await makeRom(), await makeDevice('alice'), await test.createUser('dave')]
  const { results: [result] } = await post({ device_id: device.id, sessions: [entry(26, rom)] })
  const remove = async (headers: Headers) =>
    (await app.inject({ method: 'DELETE', url: `/api/play-sessions/${result?.id}`, headers })).statusCode
  t.equal(await remove(bob), 404)
  t.match(await list(`?rom_id=${rom}`), [{ device_id: device.device_id }])
  await app.pg.query('delete from roms where id = $1', [rom])
  await app.pg.query('delete from devices where id = $1', [device.id])
  const [kept] = (await list()).filter((one) => one.id === result?.id)
  t.match(kept, { rom_id: null, device_id: null })
  t.equal(await remove(alice), 204)
  t.equal(await remove(alice), 404)
  const { results: [other] } = await post({ sessions: [entry(27, null)] }, dave)
  await app.pg.query("delete from users where username = 'dave'")
  t.equal((await app.pg.query('select 1 from play_sessions where id = $1', [other?.id])).rowCount, 0)
})

t.test('thousands of play sessions are stored at once', async (t) => {
  const [rom, device] = [await makeRom(), await makeDevice('bob')]
  const entries = Array.from({ length: 5_000 }, (_, i) => {
    const at = (minutes: number) => new Date(Date.UTC(2020, 0, 1, i, minutes)).toISOString()
    return { rom_id: rom, start: at(0), end: at(1), duration_seconds: 60 }
  })
  const to = { user_id: idOf('bob'), device_id: device.id, sync_session_id: null, entries }
  const queries = await countQueries(test, async () => {
    t.match(await app.playSessions.ingest(app.db, to), { created_count: 5_000 })
  })
  t.ok(queries <= 5, `${queries} connections`)
  t.same(await app.playSessions.ingest(app.db, { ...to, entries: [] }), {
    results: [], created_count: 0, skipped_count: 0
  })
  await t.rejects(app.playSessions.ingest(app.db, { ...to, entries: [{ rom_id: 1 }] }), { code: 'INVALID' })
})

const TIMES = fc.date({ min: new Date('1970-01-02T00:00:00Z'), max: new Date('9998-12-31T00:00:00Z'), noInvalidDate: true })

t.test('a time is read with any offset and precision, and nothing else is', (t) => {
  fc.assert(fc.property(TIMES, fc.integer({ min: -839, max: 839 }), (date, offset) => {
    const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1)
    const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) => String(part).padStart(2, '0'))
    return readTime(`${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`)?.getTime() === date.getTime()
  }))
  fc.assert(fc.property(fc.string(), (text) => readTime(text) === null))
  for (const text of [
    '', '2026', '2026-01-01', '2026-13-01T00:00:00Z', '2026-02-29T00:00:00Z', '2026-01-01T25:00:00Z',
    '1969-12-31T23:59:59Z', '2026-01-01T00:00:00+24:00'
  ]) t.equal(readTime(text), null, text)
  t.equal(readTime('2026-01-01 10:00')?.toISOString(), '2026-01-01T10:00:00.000Z')
  t.equal(readTime('2026-01-01t10:00:00.123456+0130')?.toISOString(), '2026-01-01T08:30:00.123Z')
  t.end()
})
