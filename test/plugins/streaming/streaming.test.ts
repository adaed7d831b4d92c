import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { sha256 } from '../../../core/access/secrets.ts'
import { makeFolder } from '../../folder.ts'
import { shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from '../roms/support.ts'
import { type Page, openPage, replies, setContainers, startBroker } from './support.ts'
import { bearer } from '../tokens/support.ts'

const fresh = shareTestApp(t)
const broker = await startBroker(t)
const second = await startBroker(t)

const HOST = 'https://stream.example'
const CLAIM = '/api/streaming/sessions'
const SNES = {
  platform: 'snes', host: HOST, broker_host: broker.address, broker_secret: 'hush', label: 'Parlour', max_slots: 3
}

type Method = NonNullable<InjectOptions['method']>
interface Answer { status: number, body: Record<string, unknown> & { detail?: unknown } }

/** Sets up a server with a machine, a game and two users. */
async function setUp (t: Test, containers: Record<string, unknown>[] = [SNES], more: Record<string, unknown> = {}) {
  const test = await fresh(t)
  const { app } = test
  for (const one of [broker, second]) one.reset()
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  await setContainers(test, containers, more)
  const rom = await addRom(test, { fs_name: 'Quest.sfc' })
  const [alice, bob, chief] = [await test.createUser('alice'), await test.createUser('bob'), test.admin]
  const call = async (method: Method, url: string, headers: object, payload?: object): Promise<Answer> => {
    const body = payload === undefined ? {} : { payload }
    const reply = await app.inject({ method, url, headers: { ...headers }, ...body })
    return { status: reply.statusCode, body: reply.json() }
  }
  const claim = (headers: object, more: object = {}) => call('POST', CLAIM, headers, { rom_id: rom, ...more })
  const act = (headers: object, action: string, body: object = {}, platform = 'snes') =>
    call('POST', `${CLAIM}/${platform}/${action}`, headers, body)
  const status = async (headers: object) => (await call('GET', `${CLAIM}/snes/status`, headers)).body
  /** Claims a machine and waits until the game runs. */
  async function play (headers: object, more: object = {}): Promise<Answer> {
    const answer = await claim(headers, more)
    await until(async () => (await status(headers)).host === HOST, 'the game runs')
    return answer
  }
  const isFree = async () => (await app.pg.query('select 1 from streaming_sessions')).rowCount === 0
  return { test, app, rom, alice, bob, chief, call, claim, act, status, play, isFree }
}

const openPageOf = (t: Test, { test, alice }: Awaited<ReturnType<typeof setUp>>): Promise<Page> =>
  openPage(t, test, alice.authorization)

t.test('a claim reserves a machine, starts the game and tells the page where to watch', async (t) => {
  const server = await setUp(t, [{ ...SNES, library_path: '/roms' }])
  const { app, rom, claim, status } = server
  const page = await openPageOf(t, server)
  const { status: code, body } = await claim(page.headers)
  t.equal(code, 202)
  t.match(body, { platform: 'snes', container: /^[0-9a-f]{16}$/, label: 'Parlour', rom_name: 'Quest', claimed_at: /\+00:00$/, host: HOST })
  await until(() => page.heard('streaming:launch-ready').length === 1, 'it is told')
  const { container, claimed_at: claimedAt } = body
  t.same(page.heard('streaming:launch-ready'), [{
    platform: 'snes', container, claimed_at: claimedAt, host: HOST, resume: null, core: 'snes9x', core_tier: 'default'
  }])
  t.same(broker.askedFor('POST /launch'), [{
    call: 'POST /launch',
    body: { rom_path: '/roms/roms/snes/Quest.sfc', rom_name: 'Quest', platform: 'snes', multiplayer: false },
    secret: 'hush'
  }])
  t.same(await status(page.headers), { status: 'active', platform: 'snes', extraction_phase: null, host: HOST, termination: null })
  t.match((await app.pg.query('select rom_id, state from streaming_sessions')).rows, [{ rom_id: rom, state: 'active' }])
})

t.test('of fifty concurrent claims for a machine, one succeeds', async (t) => {
  const { app, claim } = await setUp(t)
  const tokens = Array.from({ length: 50 }, (_, index) => `svc_${String(index).padStart(64, '0')}`)
  await app.pg.query(`with people as (insert into users (username) select 'person' || n from generate_series(1, 50) n returning id)
    insert into client_tokens (user_id, name, token_hash, scopes)
    select id, 'x', ($1::text[])[row_number() over (order by id)], '{roms.read,roms.user.write}' from people`, [tokens.map(sha256)])
  const answers = await Promise.all(tokens.map((token) => claim(bearer(token))))
  t.equal(answers.filter(({ status }) => status === 202).length, 1)
  const busy = answers.filter(({ status }) => status === 409)
  t.equal(busy.length, 49)
  t.match(busy[0]?.body, { detail: { message: 'Session in use', rom_name: 'Quest', claimed_at: /\+00:00$/, draining: false } })
})

t.test('concurrent claims of one user get one machine per platform', async (t) => {
  const { claim, alice } = await setUp(t, [SNES, { ...SNES, broker_host: second.address }])
  const answers = await Promise.all(Array.from({ length: 8 }, () => claim(alice)))
  t.same(answers.map(({ status }) => status).sort(), [202, ...Array<number>(7).fill(409)])
})

t.test('the first free machine is taken, in the configured order', async (t) => {
  const { claim, alice, bob, chief } = await setUp(t, [SNES, { ...SNES, broker_host: second.address, label: '' }])
  t.match(await claim(alice), { status: 202, body: { label: 'Parlour' } })
  t.match(await claim(bob), { status: 202, body: { label: '' } })
  t.match(await claim(chief), { status: 409 })
  await until(() => second.askedFor('POST /launch').length === 1, 'the second one starts it')
})

t.test('the progress of a launch is reported once per phase', async (t) => {
  const server = await setUp(t)
  const page = await openPageOf(t, server)
  let looks = 0
  let isReady = false
  broker.when('POST /launch', replies.ok({ status: 'launching', phase: 'extracting' }))
  broker.when('GET /launch', (response) => {
    looks++
    const isOver = isReady && looks >= 3
    replies.ok(isOver ? { status: 'running', core: 'bsnes', core_tier: 'vetted' } : { status: 'launching', phase: looks === 1 ? 'extracting' : 'starting' })(response, {})
  })
  const { body } = await server.claim(page.headers)
  await until(() => page.heard('streaming:launch-phase').length > 0, 'the first phase')
  t.match(await server.status(page.headers), { status: 'active', extraction_phase: /./, host: null })
  isReady = true
  await until(() => page.heard('streaming:launch-ready').length === 1, 'it runs')
  const about = { platform: 'snes', container: body.container, claimed_at: body.claimed_at }
  t.same(page.heard('streaming:launch-phase'), [{ ...about, phase: 'extracting' }, { ...about, phase: 'starting' }])
  t.match(page.heard('streaming:launch-ready'), [{ core: 'bsnes', core_tier: 'vetted' }])
})

const FAULTS: Record<string, [set: () => void, detail: RegExp]> = {
  'refuses it': [() => { broker.when('POST /launch', replies.text(507, 'disk\u0007 full')) }, /^Broker returned 507: disk full$/],
  'dies before it answers': [() => { broker.when('POST /launch', replies.cut) }, /does not answer/],
  'answers nonsense': [() => { broker.when('POST /launch', replies.text(200, '<html>')) }, /^Broker returned 200: <html>$/],
  'says that the emulator failed': [() => {
    broker.when('POST /launch', replies.ok({ status: 'launching' }))
    broker.when('GET /launch', replies.ok({ status: 'failed', detail: 'No core for this game' }))
  }, /^No core for this game$/],
  'dies while it starts': [() => {
    broker.when('POST /launch', replies.ok({ status: 'launching', phase: 'extracting' }))
    broker.when('GET /launch', replies.cut)
  }, /does not answer/],
  'redirects elsewhere': [() => {
    broker.when('POST /launch', (response) => { response.writeHead(307, { location: 'http://169.254.169.254/' }).end() })
  }, /^Broker returned 307/]
}
for (const [what, [set, detail]] of Object.entries(FAULTS)) {
  t.test(`a machine whose broker ${what} is free before the page hears why`, async (t) => {
    const server = await setUp(t)
    const page = await openPageOf(t, server)
    set()
    const { body } = await server.claim(page.headers)
    await until(() => page.heard('streaming:launch-failed').length === 1, 'it failed')
    t.ok(await server.isFree())
    t.match(page.heard('streaming:launch-failed'), [{
      platform: 'snes', container: body.container, claimed_at: body.claimed_at, detail, refusals: null, refusals_truncated: 0
    }])
    t.notMatch(JSON.stringify(page.heard('streaming:launch-failed')), broker.address, 'not where it is')
    t.match(await server.status(page.headers), { status: 'ended', termination: null })
  })
}

t.test('a game that does not start in time fails', async (t) => {
  const server = await setUp(t, [SNES], { launch_timeout_seconds: 1 })
  const page = await openPageOf(t, server)
  broker.when('POST /launch', replies.ok({ status: 'launching' }))
  broker.when('GET /launch', replies.ok({ status: 'launching' }))
  await server.claim(page.headers)
  await until(() => page.heard('streaming:launch-failed').length === 1, 'it failed')
  t.match(page.heard('streaming:launch-failed'), [{ detail: 'The game did not start within 1 seconds' }])
  t.equal(broker.askedFor('DELETE /launch').length, 1, 'what may run is ended')
})

t.test('the reasons why an emulator refuses a file are reported, up to a limit', async (t) => {
  const server = await setUp(t, [{ ...SNES, import_kinds: ['state'] }])
  const page = await openPageOf(t, server)
  const refusal = { reason: 'wrong_core', member: 'quest.state', expected: 'snes9x', suggest_emulator: 'retroarch' }
  broker.when('POST /launch', replies.json(422, { detail: 'Not this state', refusals: [refusal, 7, ...Array(30).fill({ reason: 'more', secret: 'x' })] }))
  await server.claim(page.headers)
  await until(() => page.heard('streaming:launch-failed').length === 1, 'it failed')
  const [told] = page.heard('streaming:launch-failed') as { detail: string, refusals: object[], refusals_truncated: number }[]
  t.match(told, { detail: 'Not this state', refusals: { length: 20 }, refusals_truncated: 12 })
  t.same(told?.refusals.slice(0, 2), [refusal, { reason: 'more' }], 'nothing but what is known')
})

t.test('a game starts only with a state of the same player and game', async (t) => {
  const server = await setUp(t, [{ ...SNES, assets_path: '/assets', memory_cards: true, import_kinds: ['state', 'save'] }])
  const { app, rom, alice, bob, test, claim } = server
  const page = await openPageOf(t, server)
  const addAsset = async (kind: string, userName: string, romId: number) => (await app.pg.query<{ id: number }>(
    `insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path)
     select $1, id, $3, 'snes', 'Quest.sfc', 'x', 'x', 'users/1/x.bin' from users where username = $2 returning id`,
    [kind, userName, romId])).rows[0]?.id ?? 0
  const other = await addRom(test, { fs_name: 'Other.sfc' })
  const [state, card] = [await addAsset('state', 'alice', rom), await addAsset('save', 'alice', rom)]
  t.equal((await claim(alice, { state_id: await addAsset('state', 'bob', rom) })).status, 404)
  t.equal((await claim(alice, { state_id: await addAsset('state', 'alice', other) })).status, 404)
  t.equal((await claim(alice, { memory_card_id: state })).status, 404)
  t.ok(await server.isFree(), 'nothing is reserved by any of them')
  broker.when('POST /launch', replies.ok({ resume: true }))
  t.equal((await claim(page.headers, { state_id: state, memory_card_id: card, card_import: 'adopt' })).status, 202)
  await until(() => page.heard('streaming:launch-ready').length === 1, 'it runs')
  t.match(page.heard('streaming:launch-ready'), [{ resume: true }])
  t.match(broker.askedFor('POST /launch'), [{
    body: { state_path: '/assets/users/1/x.bin', memory_card_path: '/assets/users/1/x.bin', card_import: 'adopt' }
  }])
  t.equal((await claim(bob)).status, 409)
})

t.test('a memory card on the machine needs a decision before a claim succeeds', async (t) => {
  const { claim, alice, isFree, play } = await setUp(t, [{ ...SNES, memory_cards: true }])
  const summary = { file_count: 2, total_bytes: 8_192, game_codes: ['SLUS-1'] }
  broker.when('GET /memory-card', replies.ok({ outcome: 'found', summary }))
  const { status, body } = await claim(alice)
  t.equal(status, 428)
  t.match(body.detail, { code: 'memory_card_import_required', outcome: 'found', summary, reason: null, message: /card_import/ })
  t.ok(await isFree())
  broker.when('GET /memory-card', replies.ok({ outcome: 'unreadable', reason: 'no file system' }))
  t.match(await claim(alice), { status: 428, body: { detail: { outcome: 'unreadable', summary: null, reason: 'no file system' } } })
  broker.when('GET /memory-card', replies.text(500, 'no'))
  t.match(await claim(alice), { status: 502, body: { detail: 'Broker returned 500: no' } })
  broker.when('GET /memory-card', replies.cut)
  t.match(await claim(alice), { status: 503 })
  t.ok(await isFree())
  t.equal((await claim(alice, { card_import: 'keep' })).status, 422)
  await play(alice, { card_import: 'discard' })
  t.match(broker.askedFor('POST /launch'), [{ body: { card_import: 'discard' } }])
})

t.test('only the player controls the game, and responses come from the broker', async (t) => {
  const { act, alice, bob, chief, play, app, claim, isFree } = await setUp(t, [{ ...SNES, autosave_slot: 10 }])
  t.match(await act(alice, 'volume', { level: 5 }), { status: 404, body: { detail: "No active session for platform 'snes'" } })
  t.match(await act(alice, 'mute', {}, 'Xbox'), { status: 404, body: { detail: "No streaming container configured for platform 'Xbox'" } })
  await play(alice)
  t.same(await act(alice, 'volume', { level: 40 }, 'SNES'), { status: 200, body: { status: 'ok', level: 40, platform: 'SNES' } })
  t.same((await act(alice, 'mute')).body, { status: 'ok', mute: true, platform: 'snes' })
  t.same((await act(alice, 'mute', { mute: false })).body, { status: 'ok', mute: false, platform: 'snes' })
  t.same((await act(alice, 'save-state')).body, { status: 'saving', slot: 1, platform: 'snes' })
  t.same((await act(alice, 'save-state', { slot: 10 })).body, { status: 'saving', slot: 10, platform: 'snes' })
  t.same((await act(alice, 'load-state', { slot: 3 })).body, { status: 'ok', loaded: true, slot: 3, platform: 'snes' })
  t.same(broker.asked.filter(({ call }) => /mute|state/.test(call)).map(({ body }) => body),
    [{}, { mute: false }, { slot: 1 }, { slot: 10 }, { slot: 3 }])
  t.ok(broker.asked.every(({ secret }) => secret === 'hush'), 'with the secret')

  for (const action of ['save-state', 'load-state']) {
    t.same(await act(alice, action, { slot: 4 }), { status: 422, body: { detail: "Slot 4 is not available for platform 'snes'" } })
    t.match(await act(alice, action, { slot: 11 }), { status: 422, body: { detail: [{ loc: ['body', 'slot'] }] } })
    t.equal((await act(alice, action, { slot: 0 })).status, 422)
  }
  for (const body of [{ level: 101 }, { level: -1 }, {}]) t.equal((await act(alice, 'volume', body)).status, 422)
  t.match(await act(bob, 'volume', { level: 1 }), { status: 403, body: { detail: 'Session is claimed by another user' } })
  t.equal((await act(chief, 'volume', { level: 1 })).status, 200, 'administrators may')

  const seen = async () => (await app.pg.query<{ at: Date }>('select expires_at as at from streaming_sessions')).rows[0]?.at.getTime()
  await app.pg.query("update streaming_sessions set expires_at = now() + interval '1 hour'")
  const before = await seen()
  for (const [action, body] of [['volume', { level: 1 }], ['mute', {}], ['save-state', {}], ['load-state', {}]] as const) {
    for (const reply of [replies.text(500, 'no'), replies.cut, replies.ok({ status: 'no' })]) {
      if (action === 'mute' && reply !== replies.cut) continue
      broker.when(`POST /${action}`, reply)
      t.match(await act(alice, action, body), { status: 502, body: { detail: /./ } }, action)
    }
    broker.reset()
  }
  t.equal(await seen(), before, 'what failed does not prolong it')
  await act(alice, 'mute')
  t.ok((await seen() ?? 0) > (before ?? 0), 'what worked does')
  t.equal((await claim(bob)).status, 409)
  t.notOk(await isFree())
})

t.test('save-and-exit saves, always releases the machine and stores the play time', async (t) => {
  const { act, alice, bob, claim, play, app, isFree, call } = await setUp(t)
  await play(alice)
  await app.pg.query("update streaming_sessions set started_at = now() - interval '10 minutes'")
  t.same(await act(alice, 'save-and-exit'), { status: 200, body: { status: 'ok', saved: true, platform: 'snes', released: true } })
  t.match(broker.askedFor('POST /save-and-exit'), [{ body: { slot: 0, wait: true } }])
  t.ok(await isFree())
  const played = (await call('GET', '/api/play-sessions', alice)).body as unknown as { duration_seconds: number }[]
  t.equal(played.length, 1)
  // The game goes on until it is saved, which takes longer on a busy machine.
  const seconds = played[0]?.duration_seconds ?? 0
  t.ok(seconds >= 599 && seconds < 660, `${seconds} seconds`)
  for (const reply of [replies.text(500, 'no'), replies.cut, replies.ok({ saved: false })]) {
    await play(alice)
    broker.when('POST /save-and-exit', reply)
    t.match(await act(alice, 'save-and-exit', { slot: 2 }), { status: 200, body: { saved: false, released: true } })
    t.ok(await isFree())
  }
  await play(alice)
  t.match(await act(alice, 'save-and-exit', { slot: 0, wait: false }), { body: { released: false } })
  t.match(await claim(bob), { status: 409, body: { detail: { message: 'Session in use', rom_name: null, claimed_at: null, draining: true } } })
  t.equal((await act(alice, 'mute')).status, 403, 'it is nobody’s while it is being ended')
  await app.pg.query('update streaming_sessions set expires_at = now()')
  await play(bob)
})

t.test('an administrator acts on a running game beside one that is being ended', async (t) => {
  const { act, alice, bob, chief, play } = await setUp(t, [SNES, { ...SNES, broker_host: second.address }])
  await play(alice)
  await play(bob)
  await act(alice, 'save-and-exit', { wait: false })
  t.match(await act(chief, 'save-and-exit'), { status: 200, body: { saved: true } })
  t.equal(second.askedFor('POST /save-and-exit').length, 1)
})

t.test('a machine that does not confirm a save is released after a timeout', async (t) => {
  const { act, alice, play, isFree } = await setUp(t, [SNES], { save_timeout_seconds: 1 })
  await play(alice)
  broker.when('POST /save-and-exit', replies.silence)
  t.match(await act(alice, 'save-and-exit', { slot: 2 }), { status: 200, body: { saved: false, released: true } })
  t.ok(await isFree())
})

t.test('a release by the player saves only on request', async (t) => {
  const { alice, bob, call, play, isFree } = await setUp(t)
  t.same(await call('DELETE', `${CLAIM}/snes`, alice), { status: 200, body: { status: 'not_found', platform: 'snes' } })
  t.same(await call('DELETE', `${CLAIM}/Nothing`, alice), { status: 200, body: { status: 'not_found', platform: 'Nothing' } })
  await play(alice)
  t.equal((await call('DELETE', `${CLAIM}/snes`, bob)).status, 403)
  broker.when('DELETE /launch', replies.cut)
  t.same(await call('DELETE', `${CLAIM}/SNES`, alice), { status: 200, body: { status: 'released', platform: 'SNES' } })
  t.ok(await isFree(), 'whatever the broker says')
  t.equal(broker.askedFor('POST /save-and-exit').length, 0)
  await play(alice)
  await call('DELETE', `${CLAIM}/snes?save=true`, alice)
  t.equal(broker.askedFor('POST /save-and-exit').length, 1)
})

t.test('a player whose game an administrator ends gets the reason at once and once later', async (t) => {
  const server = await setUp(t)
  const { chief, call, play, status, isFree, rom } = server
  const page = await openPageOf(t, server)
  const { body } = await play(page.headers)
  const address = `${CLAIM}/snes?reason=${encodeURIComponent('Bed time')}`
  t.match(await call('DELETE', address, chief), { status: 200, body: { status: 'released' } })
  t.ok(await isFree())
  await until(() => page.heard('streaming:session-ended').length === 1, 'it is told')
  t.match(page.heard('streaming:session-ended'), [{
    platform: 'snes', container: body.container, claimed_at: body.claimed_at, ended_by: 'admin', reason: 'Bed time',
    ended_at: /\+00:00$/, rom_id: rom, rom_name: 'Quest', desktop: false
  }])
  const inbox = (await call('GET', '/api/notifications', page.headers)).body
  t.match(inbox, {
    length: 1, 0: {
      kind: 'streaming_session_ended', level: 'warning', data: { rom_id: rom, rom_name: 'Quest', reason: 'Bed time' }, actor: { username: 'admin' }
    }
  })
  t.match(await status(page.headers), {
    status: 'ended', host: null, termination: { ended_by: 'admin', reason: 'Bed time', platform: 'snes', rom_id: rom, container: body.container, desktop: false }
  })
  t.match(await status(page.headers), { status: 'ended', termination: null }, 'once')
})

t.test('only a session whose heartbeats stopped loses its machine to the next claim', async (t) => {
  const server = await setUp(t)
  const { app, act, alice, bob, claim, play, call, rom } = server
  const page = await openPageOf(t, server)
  await play(page.headers)
  await app.pg.query("update streaming_sessions set seen_at = now() - interval '3 minutes', started_at = now() - interval '10 minutes'")
  t.equal((await claim(bob)).status, 409, 'it never gave a sign')
  t.match(await act(page.headers, 'heartbeat'), { status: 200, body: { status: 'active', host: HOST } })
  t.match((await call('GET', '/api/activity', alice)).body, { length: 1, 0: { rom_id: rom, username: 'alice' } })
  await app.pg.query("update streaming_sessions set seen_at = now() - interval '60 seconds'")
  t.equal((await claim(bob)).status, 409, 'a little late')
  // Both times together: the play time is the time between them.
  await app.pg.query("update streaming_sessions set seen_at = now() - interval '5 minutes', started_at = now() - interval '10 minutes'")
  await play(bob)
  await until(() => page.heard('streaming:session-ended').length === 1, 'the first one is told')
  t.match(page.heard('streaming:session-ended'), [{ ended_by: null, reason: /did not send a heartbeat/ }])
  t.equal(broker.askedFor('DELETE /launch').length, 1, 'what still ran is ended before')
  t.match((await call('GET', '/api/play-sessions', alice)).body, { length: 1, 0: { duration_seconds: 300 } }, 'until it fell silent')
  t.match(await act(page.headers, 'heartbeat'), { body: { status: 'ended', termination: { ended_by: null } } })
  t.equal((await act(alice, 'heartbeat', {}, 'ps2')).status, 404)
})

t.test('a session that was not released ends by itself', async (t) => {
  const server = await setUp(t)
  const { app, play, isFree } = server
  const page = await openPageOf(t, server)
  await play(page.headers)
  await app.streaming.endLapsed()
  t.notOk(await isFree(), 'not while it lasts')
  await app.pg.query("update streaming_sessions set expires_at = now() - interval '1 second'")
  await app.streaming.endLapsed()
  t.ok(await isFree())
  await until(() => page.heard('streaming:session-ended').length === 1, 'the player is told')
  t.equal(broker.askedFor('DELETE /launch').length, 1)
})

t.test('the status of a lapsed session has the reason at once, and once', async (t) => {
  const server = await setUp(t)
  const { app, claim, play, status, alice, bob, isFree } = server
  const page = await openPageOf(t, server)
  await play(page.headers)
  await app.pg.query("update streaming_sessions set expires_at = now() - interval '1 second'")
  t.match(await status(bob), { status: 'ended', termination: null }, 'of another player')
  t.match(await status(alice), { status: 'ended', termination: { ended_by: null, reason: 'The time limit of the session was over' } })
  t.match(await status(alice), { status: 'ended', termination: null })
  t.ok(await isFree())
  await until(() => page.heard('streaming:session-ended').length === 1, 'the page is told')

  broker.when('POST /launch', () => {})
  await claim(alice)
  // The process that follows the launch is gone.
  await app.pg.query("update streaming_sessions set expires_at = now() - interval '1 second', claim = gen_random_uuid()")
  t.match(await status(alice), { status: 'ended', termination: { reason: 'The game did not start in time; start it again' } })
})

t.test('a player gets the reason of an end while the machine is still being released', async (t) => {
  const server = await setUp(t)
  const { alice, chief, play, status, call } = server
  await play(alice)
  let answer: () => void = () => {}
  broker.when('DELETE /launch', (response) => { answer = () => { replies.ok({ status: 'ok' })(response, {}) } })
  const ended = call('DELETE', `${CLAIM}/snes?save=false&reason=Bed%20time`, chief)
  await until(() => broker.askedFor('DELETE /launch').length === 1, 'the broker is asked')
  t.match(await status(alice), { status: 'ended', termination: { reason: 'Bed time' } })
  answer()
  t.equal((await ended).status, 200)
  t.match(await status(alice), { status: 'ended', termination: null }, 'once')
})

t.test('a game that is ended during its launch does not come back', async (t) => {
  const server = await setUp(t)
  const { call, claim, isFree } = server
  const page = await openPageOf(t, server)
  let answer: () => void = () => {}
  broker.when('POST /launch', (response) => { answer = () => { replies.ok({ status: 'ok' })(response, {}) } })
  await claim(page.headers)
  await until(() => broker.askedFor('POST /launch').length === 1, 'it is being started')
  await call('DELETE', `${CLAIM}/snes`, page.headers)
  t.ok(await isFree())
  answer()
  await until(() => broker.askedFor('DELETE /launch').length === 2, 'what came to run after all is ended')
  t.same([...page.heard('streaming:launch-ready'), ...page.heard('streaming:launch-failed')], [])
})

t.test('the config lists the capabilities of each machine and hides its broker', async (t) => {
  const { alice, call, app } = await setUp(t, [
    { ...SNES, emulator: 'retroarch', memory_cards: true, disc_swap: 'manual', import_kinds: ['state'] },
    { platform: 'PS2', host: 'https://b.example', label: '' }, { platform: 'gc', host: 'no-scheme.example' },
    { platform: 'ngc', host: 'http://c.example' }, { host: 'https://nowhere.example' }, { platform: 'wii' }
  ])
  const { body } = await call('GET', '/api/streaming/config', alice)
  t.match(body, {
    enabled: true, emulator_labels: { retroarch: 'RetroArch' }, containers: [
      {
        platform: 'snes', host: HOST, label: 'Parlour', emulator: 'retroarch', supports_memory_cards: true, supports_save_picker: true,
        supports_live_states: true, import_kinds: ['state'],
        capabilities: {
          max_slots: 3, has_autosave: false, autosave_slot: 0, has_memory_card: true, supports_disc_swap: false,
          has_manual_disc_swap: true
        }
      },
      { platform: 'ps2', label: 'PS2', capabilities: { max_slots: 9, has_autosave: true, autosave_slot: 10 } },
      { platform: 'gc', host: 'no-scheme.example', capabilities: { max_slots: 0, has_autosave: false } },
      { platform: 'ngc', capabilities: { max_slots: 7, autosave_slot: 8 } }
    ]
  })
  t.equal((body.containers as unknown[]).length, 4, 'without a platform or a host it is none')
  t.notMatch(JSON.stringify(body), /127\.0\.0\.1|hush/)
  t.match(await call('POST', `${CLAIM}/gc/mute`, alice, {}), { status: 404, body: { detail: /No streaming container/ } }, 'one without a scheme is not used')
  await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) select 'platforms', p.id, u.id from platforms p, users u where u.username = 'alice'")
  const { body: less } = await call('GET', '/api/streaming/config', alice)
  t.notOk((less.containers as { platform: string }[]).some(({ platform }) => platform === 'snes'), 'what is hidden is not told of')
})

t.test('disabled streaming shows its config and accepts no claim', async (t) => {
  const { alice, call, claim, app } = await setUp(t, [SNES], { enabled: false })
  t.match(await call('GET', '/api/streaming/config', alice), { body: { enabled: false, containers: { length: 1 } } })
  t.match(await claim(alice), { status: 404 })
  t.same(broker.asked, [])
  await app.streaming.endLapsed()
})

t.test('hidden games are neither started, nor named, nor offered', async (t) => {
  const { test, app, alice, bob, call, claim, play } = await setUp(t, [{ ...SNES, joinable: true }])
  const adults = await addRom(test, { fs_name: 'Mature.sfc', fields: { min_age: 18 } })
  const joinable = async (headers: object, query = '') =>
    (await call('GET', `${CLAIM}/joinable${query}`, headers)).body.sessions as unknown[]
  await play(alice, { rom_id: adults, multiplayer: true })
  t.match(await joinable(bob), [{ rom_id: adults, rom_name: 'Mature', host_username: 'alice', platform: 'snes', label: 'Parlour', platform_id: Number, claimed_at: String }])
  await app.pg.query('update permission_groups set age_limit = 12 where is_default')
  t.match(await claim(bob, { rom_id: adults }), { status: 404 })
  t.match(await claim(bob), { status: 409, body: { detail: { rom_name: null, claimed_at: /./ } } })
  t.same(await joinable(bob), [])
  t.match(await call('POST', `${CLAIM}/snes/join`, bob), { status: 404 })
})

t.test('users join a game that is open for joining', async (t) => {
  const { alice, bob, call, play, rom } = await setUp(t, [{ ...SNES, joinable: true }])
  const join = (query = '') => call('POST', `${CLAIM}/snes/join${query}`, bob)
  t.equal((await join()).status, 404)
  const { body: { container } } = await play(alice, { multiplayer: true })
  t.match(broker.askedFor('POST /launch'), [{ body: { multiplayer: true } }])
  t.same(await join(`?container=${String(container)}`), {
    status: 200, body: { platform: 'snes', host: 'https://guest.example', label: 'Parlour', rom_id: rom, rom_name: 'Quest' }
  })
  t.match(broker.askedFor('POST /join'), [{ body: { username: 'bob' } }])
  t.equal((await join('?container=other')).status, 404)
  for (const reply of [replies.text(500, 'no'), replies.cut]) {
    broker.when('POST /join', reply)
    t.equal((await join()).status, 502)
  }
  t.match((await call('GET', `${CLAIM}/joinable?rom_id=${rom}`, bob)).body, { sessions: { length: 1 } })
  t.match((await call('GET', `${CLAIM}/joinable?rom_id=${rom + 1}`, bob)).body, { sessions: { length: 0 } })
  await call('DELETE', `${CLAIM}/snes`, alice)
  await play(alice)
  t.match(await join(), { status: 403 })
})

t.test('a player joins the games of others, not the own one', async (t) => {
  const joinable = { ...SNES, joinable: true }
  const { alice, bob, call, play } = await setUp(t, [joinable, { ...joinable, broker_host: second.address }])
  for (const user of [alice, bob]) await play(user, { multiplayer: true })
  for (const [user, host] of [[alice, 'bob'], [bob, 'alice']] as const) {
    t.match((await call('GET', `${CLAIM}/joinable`, user)).body, { sessions: [{ host_username: host }] })
    t.equal((await call('POST', `${CLAIM}/snes/join`, user)).status, 200)
  }
  t.match([broker, second].map((one) => one.askedFor('POST /join').map(({ body }) => body)), [[{ username: 'bob' }], [{ username: 'alice' }]])
})

t.test('a machine that is not joinable refuses to join', async (t) => {
  const { alice, bob, call, play } = await setUp(t)
  await play(alice, { multiplayer: true })
  t.equal((await call('POST', `${CLAIM}/snes/join`, bob)).status, 409)
  t.match((await call('GET', `${CLAIM}/joinable`, bob)).body, { sessions: { length: 0 } })
})

t.test('only discs of the game can be inserted', async (t) => {
  const { test, app, alice, act, play, call } = await setUp(t, [{ ...SNES, disc_swap: 'broker', library_path: '/roms' }])
  const set = await addRom(test, { fs_name: 'Set', files: ['a.cue', 'b.cue'] })
  const { rows } = await app.pg.query<{ id: number, rom_id: number, file_name: string }>('select id, rom_id, file_name from rom_files order by id')
  const idOf = (name: string) => rows.find(({ file_name: one }) => one === name)?.id ?? 0
  await play(alice, { rom_id: set })
  const disc = idOf('b.cue')
  t.same(await act(alice, 'swap-disc', { file_id: disc }), { status: 200, body: { status: 'ok', file_id: disc, platform: 'snes' } })
  t.match(broker.askedFor('POST /swap-disc'), [{ body: { path: '/roms/roms/snes/Set/b.cue' } }])
  t.equal((await act(alice, 'swap-disc', { file_id: idOf('Quest.sfc') })).status, 400)
  broker.when('POST /swap-disc', replies.text(500, 'no'))
  t.equal((await act(alice, 'swap-disc', { file_id: disc })).status, 502)
  await call('DELETE', `${CLAIM}/snes`, alice)
  await setContainers(test, [SNES])
  await play(alice, { rom_id: set })
  t.equal((await act(alice, 'swap-disc', { file_id: disc })).status, 409)
})

t.test('the path of a machine applies to the first library; others keep their own path', async (t) => {
  const { test, app, alice, chief, act, play, call } = await setUp(t, [{ ...SNES, disc_swap: 'broker', library_path: '/roms' }])
  const dir = makeFolder(t)
  const { status, body: { id } } = await call('POST', '/api/libraries', chief, { name: 'further', path: dir })
  t.equal(status, 201)
  const far = await addRom(test, { fs_name: 'Far', files: ['a.cue', 'b.cue'], fields: { library_id: Number(id) } })
  await play(alice, { rom_id: far })
  t.match(broker.askedFor('POST /launch'), [{ body: { rom_path: join(dir, 'roms/snes/Far') } }])
  const { rows: [disc] } = await app.pg.query<{ id: number }>("select id from rom_files where rom_id = $1 and file_name = 'b.cue'", [far])
  t.equal((await act(alice, 'swap-disc', { file_id: disc?.id })).status, 200)
  t.match(broker.askedFor('POST /swap-disc'), [{ body: { path: join(dir, 'roms/snes/Far/b.cue') } }])
})

t.test('a picture of the game becomes a screenshot of the player', async (t) => {
  const { app, alice, bob, play, rom, call } = await setUp(t)
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  const send = async (headers: object, payload: Buffer) => (await app.inject({
    method: 'POST', url: `${CLAIM}/snes/state-frame`, headers: { ...headers, 'content-type': 'image/png' }, payload
  })).statusCode
  t.equal(await send(alice, png), 404)
  await play(alice)
  t.equal(await send(bob, png), 403)
  t.equal(await send(alice, png), 200)
  t.equal(await send(alice, Buffer.from('<svg/>')), 400)
  t.equal(await send(alice, Buffer.alloc(0)), 400)
  const { rows } = await app.pg.query<{ disk_path: string }>("select disk_path from assets where kind = 'screenshot' and rom_id = $1 and is_gallery", [rom])
  t.equal(rows.length, 1)
  t.equal((await call('GET', '/api/users/me', alice)).status, 200)
})

t.test('only administrators see all sessions, open desktops and end games of others', async (t) => {
  const { alice, chief, bob, call, play, test, isFree, act } = await setUp(t, [{ ...SNES, desktop: true }, { platform: 'ps2', host: 'https://b.example', broker_host: second.address }])
  const { body: { container } } = await play(alice)
  const ROUTES: [Method, string, object?][] = [['GET', CLAIM], ['DELETE', CLAIM], ['GET', '/api/streaming/containers'], ['POST', '/api/streaming/desktop', { container }]]
  for (const [method, url, body] of ROUTES) t.equal((await call(method, url, bob, body)).status, 403, `${method} ${url}`)

  t.match((await call('GET', CLAIM, chief)).body, { sessions: [{ container, label: 'Parlour', platform: 'snes', rom_name: 'Quest', username: 'alice', user_id: Number, desktop: false }] })
  const machines = (await call('GET', '/api/streaming/containers', chief)).body as { containers: { container: string, platforms: string[] }[] }
  t.match(machines, {
    enabled: true, containers: [
      { container, name: 'Parlour', host: HOST, platforms: ['snes'], supports_desktop: true, configured: true, draining: false, session: { username: 'alice' } },
      { platforms: ['ps2'], supports_desktop: false, configured: true, session: null }
    ]
  })
  const desktop = (id: unknown) => call('POST', '/api/streaming/desktop', chief, { container: id })
  t.equal((await desktop(container)).status, 409)
  t.equal((await desktop('none')).status, 404)
  t.equal((await desktop(machines.containers[1]?.container)).status, 400)

  t.same((await call('DELETE', CLAIM, chief)).body, { status: 'released', platforms: [container] })
  t.ok(await isFree())
  broker.when('POST /desktop', replies.text(500, 'no'))
  t.equal((await desktop(container)).status, 502)
  broker.when('POST /desktop', replies.cut)
  t.equal((await desktop(container)).status, 503)
  t.ok(await isFree())
  broker.reset()
  t.match(await desktop(container), { status: 200, body: { container, platform: 'snes', host: HOST, label: 'Parlour', claimed_at: /./ } })
  t.match((await call('GET', CLAIM, chief)).body, { sessions: [{ desktop: true, rom_id: null, rom_name: null, username: 'admin' }] })
  t.equal((await act(chief, 'swap-disc', { file_id: 1 })).status, 409)

  await setContainers(test, [])
  t.match((await call('GET', '/api/streaming/containers', chief)).body, { containers: [{ container, configured: false, session: { username: 'admin' } }] })
  t.same((await call('DELETE', CLAIM, chief)).body, { status: 'released', platforms: [container] }, 'also what is not set up any more')
})

t.test('V8, streaming: a read scope claims no machine, and no grant makes an admin', async (t) => {
  const { app, alice, bob, call, play, claim } = await setUp(t)
  const { body: { raw_token: raw } } = await call('POST', '/api/client-tokens', bob, { name: 'x', scopes: ['roms.read'] })
  const reader = { authorization: `Bearer ${String(raw)}` }
  await play(alice)
  for (const [method, url, body] of [
    ['POST', CLAIM, { rom_id: 1 }], ['DELETE', `${CLAIM}/snes`], ['POST', `${CLAIM}/snes/heartbeat`, {}],
    ...['volume', 'mute', 'save-state', 'load-state', 'save-and-exit', 'swap-disc'].map((action) => ['POST', `${CLAIM}/snes/${action}`, {}])
  ] as [Method, string, object?][]) t.equal((await call(method, url, reader, body)).status, 403, `${method} ${url}`)
  await app.pg.query(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'users', 'write', false from permission_groups where is_default on conflict do nothing`)
  t.equal((await call('DELETE', CLAIM, bob)).status, 403)
  t.equal((await call('DELETE', `${CLAIM}/snes`, bob)).status, 403)
  t.equal((await claim(bob)).status, 409)
})

t.test('a narrow token of an administrator neither sees nor ends games of other users', async (t) => {
  const { alice, chief, call, play, act, isFree } = await setUp(t, [{ ...SNES, desktop: true }])
  const tokenOf = async (scopes: string[]) =>
    bearer(String((await call('POST', '/api/client-tokens', chief, { name: 'x', scopes })).body.raw_token))
  const player = await tokenOf(['roms.read', 'roms.user.write'])
  const { body: { container } } = await play(alice)
  for (const [method, url, body] of [
    ['GET', CLAIM], ['DELETE', CLAIM], ['GET', '/api/streaming/containers'], ['POST', '/api/streaming/desktop', { container }],
    ['DELETE', `${CLAIM}/snes`], ['POST', `${CLAIM}/snes/save-and-exit`, {}], ['POST', `${CLAIM}/snes/volume`, { level: 0 }]
  ] as [Method, string, object?][]) t.equal((await call(method, url, player, body)).status, 403, `${method} ${url}`)
  t.notOk(await isFree())
  const manager = await tokenOf(['roms.user.write', 'users.write'])
  t.equal((await act(manager, 'volume', { level: 1 })).status, 200)
  t.equal((await call('DELETE', `${CLAIM}/snes`, manager)).status, 200)
})

t.test('STREAMING_BROKER_SECRET takes precedence over the secret of a machine', async (t) => {
  const { alice, play } = await setUp(t, [SNES], { broker_secret: 'for all' })
  await play(alice)
  t.equal(broker.askedFor('POST /launch')[0]?.secret, 'for all')
})

t.test('after a change of its address, a broker is called only at the new one', async (t) => {
  const { test, alice, bob, call, play } = await setUp(t)
  await play(alice)
  await call('DELETE', `${CLAIM}/snes`, alice)
  const file = join(test.config.data_dir, 'config.yml')
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(broker.address, second.address))
  broker.reset()
  await play(bob)
  t.equal(second.askedFor('POST /launch').length, 1)
  t.same(broker.asked, [])
})
