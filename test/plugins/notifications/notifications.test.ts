import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import { draftOf } from '../../../plugins/notifications/kinds.ts'
import { isInternalLink } from '../../../plugins/notifications/link.ts'
import type { NotificationView } from '../../../plugins/notifications/schemas.ts'
import { toOutgoing } from '../../../plugins/notifications/views.ts'
import { createStats } from '../../../plugins/scans/schemas.ts'
import { buildTestApp } from '../../support.ts'
import { basicHeaders as basic } from '../auth/support.ts'
import { addRom } from '../roms/support.ts'
import { listen } from './support.ts'
import { until } from '../../until.ts'
import { character } from '../../any-string.ts'

type Headers = Record<string, string>
type Method = 'GET' | 'POST' | 'DELETE'

const log: Record<string, unknown>[] = []
const test = await buildTestApp(t, {
  log: (line) => { log.push(line) }, env: { SVC_BASE_URL: 'https://games.example' }
})
const { app, admin, createUser } = test
await app.listen({ port: 0, host: '127.0.0.1' })
await createUser('model')

const call = (method: Method, path: string, headers: Headers, payload?: InjectOptions['payload']) =>
  app.inject({ method, url: `/api/notifications${path}`, headers, ...(payload === undefined ? {} : { payload }) })
const send = (headers: Headers, payload: object) => call('POST', '', headers, payload)
const inbox = async (headers: Headers) => (await call('GET', '', headers)).json<NotificationView[]>()
const titles = async (headers: Headers) => (await inbox(headers)).map(({ title }) => title)
const countAll = async () => (await app.pg.query('select 1 from notifications')).rowCount

/** Adds a user with the password hash of another one, because hashing is slow. */
async function make (username: string, role: 'admin' | 'user' = 'user', enabled = true) {
  const { rows: [row] } = await app.pg.query<{ id: number }>(`insert into users (username, role, enabled, password_hash)
    select $1, $2, $3, password_hash from users where username = 'model' returning id`, [username, role, enabled])
  return { id: row?.id ?? 0, username, headers: basic(username) }
}

t.test('a sent notification is in the inbox and reaches the open page', async (t) => {
  const alice = await make('alice')
  const heard = await listen(t, app, alice)
  const given = {
    title: 'Backup', body: 'It is done', level: 'success', kind: 'backup:daily.1', link: '/rom/7?tab=saves', icon: 'mdi-check',
    data: { files: [1, { name: 'é' }] }
  }
  const reply = await send(alice.headers, given)
  t.equal(reply.statusCode, 201)
  const [sent, ...others] = reply.json<NotificationView[]>()
  t.same(others, [])
  t.match(sent, { ...given, id: Number, actor: null, read_at: null, created_at: /^\d{4}-.*\+00:00$/ })
  t.same(await inbox(alice.headers), [sent])
  await until(() => heard.length === 1, 'the page is told')
  t.same(heard, [['notifications:new', sent]])

  await send(alice.headers, { title: 'Plain', recipients: [alice.id] })
  t.match(await inbox(alice.headers), [
    { title: 'Plain', body: null, level: 'info', kind: 'custom', link: null, icon: null, data: {} }, { title: 'Backup' }
  ], 'newest first')
})

t.test('an invalid field is refused by name', async (t) => {
  const { headers } = await make('rules')
  const refused: [field: string, payload: object][] = [
    ['title', {}], ['title', { title: '' }], ['title', { title: 'x'.repeat(256) }], ['title', { title: 'a\0b' }],
    ['body', { body: 'x'.repeat(1_001) }], ['body', { body: '\0' }], ['level', { level: 'fatal' }],
    ['kind', { kind: 'scan_completed' }], ['kind', { kind: 'device_install_failed' }], ['kind', { kind: 'Upper' }],
    ['kind', { kind: '' }], ['kind', { kind: 'x'.repeat(65) }], ['kind', { kind: ':x' }], ['kind', { kind: 'x\n' }],
    ['icon', { icon: 'check' }], ['icon', { icon: 'mdi-Check' }], ['icon', { icon: `mdi-${'x'.repeat(61)}` }],
    ['link', { link: 'https://evil.example' }], ['link', { link: '/x'.repeat(501) }],
    ['data', { data: [] }], ['data', { data: 'x' }], ['data', { data: { text: 'x'.repeat(4_085) + 'yy' } }],
    ['data', { data: { text: 'a\0b' } }], ['data', { data: { 'a\0': 1 } }], ['data', { data: { text: '\ud800' } }],
    ['recipients', { recipients: [] }], ['recipients', { recipients: 'everybody' }], ['recipients', { recipients: [0] }],
    ['recipients', { recipients: [2 ** 31] }], ['recipients', { recipients: ['1'] }]
  ]
  for (const [field, part] of refused) {
    await app.pg.query("delete from throttles where key like 'notifications:%'")
    const payload = field === 'title' ? part : { title: 'x', ...part }
    const reply = await send(headers, payload)
    t.equal(reply.statusCode, 422, JSON.stringify(payload).slice(0, 100))
    t.equal(reply.json<{ detail: { loc: string[] }[] }>().detail[0]?.loc[1], field, reply.body.slice(0, 200))
  }
  const json = { ...headers, 'content-type': 'application/json' }
  t.match(await call('POST', '', json, '{"title":"x","data":{"n":1e999}}'), { statusCode: 422, body: /too large; send it as text/ })
  const nest = (depth: number) => `{"title":"x","data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
  t.match(await call('POST', '', json, nest(32)), { statusCode: 422, body: /nested deeper/ })
  t.match(await call('POST', '', json, nest(100_000)), { statusCode: 422, body: /nested deeper/ })
  t.same(await inbox(headers), [])

  const limits = {
    title: '😀'.repeat(255), body: '', kind: 'x'.repeat(64), icon: null, link: null,
    data: { text: 'x'.repeat(4_085) }, recipients: null
  }
  t.equal((await send(headers, limits)).statusCode, 201, 'the limits themselves are allowed')
  t.equal((await call('POST', '', json, nest(31))).statusCode, 201)
  t.match((await send(headers, { title: 'half \ud83d', data: { text: '\\u0000' } })).json<object[]>(),
    [{ title: 'half \ufffd', data: { text: '\\u0000' } }], 'what only looks like NUL is none')
})

t.test('links that leave the service are refused', async (t) => {
  const outside = [
    '//evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example', '/%09/evil.example', '/%2f/evil.example',
    '/%5cevil.example', 'javascript:alert(1)', 'https://evil.example/', 'evil', '', ' /x', '/x y', '/x\u00a0y', '/x\ny', '/x%0ay',
    '/%00', '/..//evil.example', '/.//evil.example', '/%2e%2e//evil.example', '/../admin', '/x/..', '/x/%2E%2e/y', '/./x',
    '/x%', '/x%zz', '/%ff', '/\ud800', '/%2f%2fevil.example', '/x/%2e%2e', '/%3f/%2e%2e/%2e%2e/x', '/%3F/%2E./.%2e//evil.example'
  ]
  for (const link of outside) t.notOk(isInternalLink(link), JSON.stringify(link))
  const inside = ['/', '/rom/7', '/scan?from=//a&b=%20c#top', '/a//b', '/é/😀', '/%C3%A9', '/x%25', '/.well-known', '/x..y', '/x?p=/../y']
  for (const link of inside) t.ok(isInternalLink(link), link)

  const piece = fc.constantFrom('/', '\\', '.', '..', ':', '@', '#', '?', '%', '%2f', '%5c', '%2e', '%3f', '%23', '%09', '%0a', '%00', '%25',
    '\t', ' ', '/..', '/%2e%2e', 'evil.example', 'javascript', 'x', 'é')
  const anything = fc.oneof(fc.string({ unit: character }), fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.array(piece, { maxLength: 12 }).map((parts) => `/${parts.join('')}`), fc.domain().map((host) => `https://${host}/`))
  const staysIn = (link: string) => ['https://games.example/', 'https://games.example/svc/'].every((home) => {
    const byReference = new URL(link, home)
    const behind = new URL(home.slice(0, -1) + link)
    return byReference.host === 'games.example' && !byReference.pathname.startsWith('//') && behind.href.startsWith(home)
  })
  const isSafe = (link: string) => !isInternalLink(link) || [link, decodeURIComponent(link)].every(staysIn)
  fc.assert(fc.property(anything, isSafe), { numRuns: 1_000 })

  const segment = fc.string({ unit: character, minLength: 1 })
    .filter((text) => text.isWellFormed() && !/^(?:\.|%2e){1,2}(?:[?#]|$)|[\\/\p{Cc}]/iu.test(text))
  const path = fc.array(segment).map((parts) => `/${parts.map(encodeURIComponent).join('/')}`)
  fc.assert(fc.property(path, isInternalLink), { numRuns: 300 })
})

t.test('only administrators with users.write send to others, who see the sender', async (t) => {
  const [ben, cleo, off] = [await make('ben'), await make('cleo'), await make('off', 'user', false)]
  const [root, retired] = [await make('root', 'admin'), await make('retired', 'admin', false)]
  const before = await countAll()
  for (const recipients of [[cleo.id], [ben.id, cleo.id], [999_999], 'admins', 'all']) {
    const reply = await send(ben.headers, { title: 'x', recipients })
    t.match(reply, { statusCode: 403, body: /administrator with the scope users.write/ }, JSON.stringify(recipients))
  }
  const token = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: root.headers, payload: { name: 'x', scopes: ['me.read', 'me.write'] }
  })).json<{ raw_token: string }>().raw_token
  const bearer = { authorization: `Bearer ${token}` }
  t.equal((await send(bearer, { title: 'x', recipients: [cleo.id] })).statusCode, 403, 'an administrator by a lesser token')
  for (const id of [999_999, off.id, retired.id]) {
    const reply = await send(root.headers, { title: 'x', recipients: [cleo.id, id] })
    t.match(reply, { statusCode: 404, body: new RegExp(`User with ID '${id}' not found or disabled`) })
  }
  t.equal(await countAll(), before, 'nothing was sent')
  t.equal((await send(bearer, { title: 'to myself' })).statusCode, 201)

  const heard = await listen(t, app, cleo)
  const named = await send(root.headers, { title: 'Named', recipients: [cleo.id, root.id, cleo.id] })
  t.equal(named.json<object[]>().length, 2, 'one for each')
  const [seen] = await inbox(cleo.headers)
  t.match(seen, { title: 'Named', actor: { id: root.id, username: 'root', avatar_path: '', updated_at: /\+00:00$/ } })
  await until(() => heard.length === 1, 'the page is told')
  t.same(heard, [['notifications:new', seen]])
  t.match(await inbox(root.headers), [{ title: 'Named', actor: null }, { title: 'to myself' }], 'nobody is its own sender')

  await send(root.headers, { title: 'Admins', recipients: 'admins' })
  await send(root.headers, { title: 'All', recipients: 'all' })
  t.same(await titles(cleo.headers), ['All', 'Named'])
  t.same((await titles(admin)).slice(0, 2), ['All', 'Admins'])
  t.equal((await app.pg.query('select 1 from notifications where user_id = any($1)', [[off.id, retired.id]])).rowCount, 0)

  await app.pg.query('delete from users where id = $1', [root.id])
  t.match(await inbox(cleo.headers), [{ title: 'All', actor: null }, { title: 'Named', actor: null }], 'a sender may leave')
})

t.test('some or all notifications are marked as read, and open pages get an event', async (t) => {
  const [dora, eve] = [await make('dora'), await make('eve')]
  for (const title of ['1', '2', '3']) await send(dora.headers, { title })
  await send(eve.headers, { title: 'hers' })
  const [third, second, first] = await inbox(dora.headers)
  const [foreign] = await inbox(eve.headers)
  const heard = await listen(t, app, dora)
  const read = (payload: object) => call('POST', '/read', dora.headers, payload)
  t.match(await read({ ids: [second?.id, foreign?.id, 999_999] }), { statusCode: 200, body: 'null' })
  const marked = await inbox(dora.headers)
  t.same(marked.map(({ read_at: at }) => at !== null), [false, true, false])
  await read({ ids: [foreign?.id] })
  await read({ ids: [] })
  await read({ ids: [first?.id, second?.id] })
  t.equal((await inbox(dora.headers))[1]?.read_at, marked[1]?.read_at, 'the first time counts')
  await read({ ids: null })
  await read({})
  t.ok((await inbox(dora.headers)).every(({ read_at: at }) => at !== null))
  t.match(await inbox(eve.headers), [{ read_at: null }])
  await until(() => heard.length === 4, 'the page is told')
  t.match(heard, [
    ['notifications:read', { ids: [second?.id] }], ['notifications:read', { ids: [Number, Number] }],
    ['notifications:read', { ids: null }], ['notifications:read', { ids: null }]
  ])
  for (const ids of [Array.from({ length: 201 }, (_, index) => index + 1), [0], ['x'], 7, 'all']) {
    t.equal((await read({ ids })).statusCode, 422, JSON.stringify(ids).slice(0, 40))
  }
  t.ok(third)
})

t.test('one or all notifications are dismissed, and open pages get an event', async (t) => {
  const [finn, gus] = [await make('finn'), await make('gus')]
  for (const title of ['1', '2', '3']) await send(finn.headers, { title })
  await send(gus.headers, { title: 'his' })
  const heard = await listen(t, app, finn)
  const [, second] = await inbox(finn.headers)
  const [foreign] = await inbox(gus.headers)
  t.match(await call('DELETE', `/${second?.id}`, finn.headers), { statusCode: 200, body: 'null' })
  t.same(await titles(finn.headers), ['3', '1'])
  for (const id of [second?.id, foreign?.id, 999_999]) {
    t.match(await call('DELETE', `/${id}`, finn.headers), { statusCode: 404, body: new RegExp(`'${id}' not found`) })
  }
  t.match(await call('DELETE', '', finn.headers), { statusCode: 200, body: 'null' })
  t.same(await inbox(finn.headers), [])
  t.same(await titles(gus.headers), ['his'])
  await until(() => heard.length >= 2, 'the page is told')
  t.same(heard, [['notifications:dismissed', { ids: [second?.id] }], ['notifications:dismissed', { ids: null }]])
})

t.test('an inbox keeps the 200 newest notifications, even with concurrent sends', async (t) => {
  const [hugo, ida] = [await make('hugo'), await make('ida')]
  await app.pg.query(`insert into notifications (user_id, kind, level, title)
    select $1, 'custom', 'info', 'old ' || n from generate_series(1, 205) n`, [hugo.id])
  await send(hugo.headers, { title: 'new' })
  const kept = await titles(hugo.headers)
  t.equal(kept.length, 200)
  t.same([kept[0], kept[1], kept.at(-1)], ['new', 'old 205', 'old 7'])
  const countOf = async (id: number) => (await app.pg.query('select 1 from notifications where user_id = $1', [id])).rowCount ?? 0
  const notify = (to: number[]) => app.notifications.notify({ kind: 'role_changed', to, data: { role: 'user' } })
  const counts: number[][] = []
  for (let round = 0; round < 10; round++) {
    await Promise.all([[hugo.id, ida.id], [ida.id, hugo.id], [hugo.id, ida.id]].map(notify))
    counts.push([await countOf(hugo.id), await countOf(ida.id)])
  }
  t.same(counts, counts.map((_, round) => [200, 3 * (round + 1)]))
})

t.test('of 100 concurrent sends of a user 60 succeed, and the rest get Retry-After', async (t) => {
  const [jo, kim] = [await make('jo'), await make('kim')]
  const replies = await Promise.all(Array.from({ length: 100 }, (_, index) => send(jo.headers, { title: `${index}` })))
  t.equal(replies.filter(({ statusCode }) => statusCode === 201).length, 60)
  const refused = replies.filter(({ statusCode }) => statusCode === 429)
  t.equal(refused.length, 40)
  t.ok(refused.every(({ headers }) => Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60))
  t.equal((await inbox(jo.headers)).length, 60)
  t.equal((await send(kim.headers, { title: 'x' })).statusCode, 201, 'others may')
})

t.test('a notification is queued for the channels that accept its topic', async (t) => {
  const [lou, mia] = [await make('lou', 'admin'), await make('mia')]
  for (const [name, topics] of [['all', null], ['some', ['custom']], ['scans', ['scans']]] as const) {
    await app.pg.query(`insert into notification_channels (user_id, type, name, topics, sealed, confirmed)
      values ($1, 'webhook', $2, $3, '', true)`, [mia.id, name, topics])
  }
  const queued = async () => (await app.pg.query<{ name: string, notification: object }>(`select c.name, d.notification
    from channel_deliveries d join notification_channels c on c.id = d.channel_id order by d.id`)).rows
  await send(lou.headers, { title: 'Hello', recipients: [mia.id, 999_999] })
  t.same(await queued(), [], 'nothing of what was refused')
  await send(lou.headers, { title: 'Hello', link: '/rom/7', data: { a: 1 }, recipients: [mia.id, lou.id] })
  const [stored] = await inbox(mia.headers)
  const notification = {
    event: 'notification', id: stored?.id, kind: 'custom', level: 'info', title: 'Hello', body: '',
    url: 'https://games.example/rom/7', data: { a: 1 }, actor: { id: lou.id, username: 'lou' }, created_at: stored?.created_at
  }
  t.same(await queued(), [{ name: 'all', notification }, { name: 'some', notification }])
  await app.notifications.notify({ kind: 'scan_failed', to: [mia.id], data: { error: 'No library' } })
  const failed = { title: 'Scan failed', body: 'No library', url: 'https://games.example/scan', actor: null }
  t.match((await queued()).slice(2), [{ name: 'all', notification: failed }, { name: 'scans', notification: failed }])
})

t.test('a notification that cannot be stored is logged and throws nothing', async (t) => {
  const lena = await make('lena')
  const notify = (to: number[]) => app.notifications.notify({ kind: 'scan_failed', to, data: { error: 'a\0b \ud800' } })
  await notify([])
  await notify([999_999])
  await notify([2 ** 40])
  t.match(log.at(-1), { msg: 'a notification could not be stored', kind: 'scan_failed', to: [2 ** 40] })
  await notify([lena.id])
  t.match(await inbox(lena.headers), [{ kind: 'scan_failed', data: { error: 'ab \ufffd' } }], 'what no column takes is left out')
})

t.test('built-in kinds have English text and a link for channels, but not for clients', async (t) => {
  const row = { id: 7, user_id: 1, read_at: null, created_at: new Date('2026-01-02T03:04:05Z') }
  const install = { rom_id: 3, rom_name: 'Kirby', device_name: 'Deck', status: 'done', reason: null }
  const render = (occasion: Parameters<typeof draftOf>[0], home: string | null = 'https://games.example/svc') => {
    const draft = draftOf(occasion)
    const actor = { id: 2, username: 'boss', avatar_path: 'x', updated_at: new Date() }
    return toOutgoing({ ...row, ...draft, ...draft.sentText, actor }, draft, home)
  }
  const stats = { ...createStats(), scanned_roms: 5, new_roms: 1 }
  t.same(render({ kind: 'scan_completed', data: stats }), {
    event: 'notification', id: 7, kind: 'scan_completed', level: 'success', title: 'Scan completed', body: '1 new game',
    url: 'https://games.example/svc/scan', data: stats, actor: { id: 2, username: 'boss' }, created_at: '2026-01-02T03:04:05+00:00'
  })
  t.match(render({ kind: 'scan_completed', data: { ...stats, new_roms: 2 } }, null), { body: '2 new games', url: null })
  t.match(render({ kind: 'role_changed', data: { role: 'admin' } }), { title: /administrator/, body: '', url: null, level: 'info' })
  t.match(render({ kind: 'task_failed', data: { title: 'Cleanup', error: 'no room' } }),
    { title: /Cleanup/, body: 'no room', url: /\/administration$/, level: 'error' })
  t.match(render({ kind: 'channel_disabled', data: { channel_id: 1, name: 'Chat', error: '410' } }),
    { title: /Chat/, body: '410', url: /\/notifications\?tab=channels$/, level: 'warning' })
  t.match(render({ kind: 'streaming_session_ended', data: { rom_id: 3, rom_name: 'Kirby', reason: 'Idle' } }),
    { title: /Kirby/, body: 'Idle', url: /\/rom\/3$/, level: 'warning' })
  t.match(render({ kind: 'device_install_completed', data: install }), { title: /Kirby.*Deck/, body: '', url: /\/rom\/3$/ })
  t.match(render({ kind: 'device_install_failed', data: { ...install, reason: 'Disk full' } }), { body: 'Disk full', level: 'error' })
})

t.test('data with a number that is no id of a ROM is listed as it was sent', async (t) => {
  const { headers } = await make('nora')
  const sent = [-1, 0, 1.5, 2_147_483_648, -9_000_000_000].map((id) => ({ rom_id: id, rom_name: 'Mine' }))
  for (const data of sent) await send(headers, { title: 'Own', data })
  t.same((await inbox(headers)).map(({ data }) => data), sent.toReversed())
})

t.test('a notification names a ROM as it is called now, unless the ROM is gone or hidden', async (t) => {
  const rita = await make('rita')
  const [seen, hidden] = [await addRom(test, { fs_name: 'Seen.sfc' }), await addRom(test, { fs_name: 'Hidden.sfc' })]
  for (const id of [seen, hidden, 999_999]) {
    await app.notifications.notify({ kind: 'streaming_session_ended', to: [rita.id], data: { rom_id: id, rom_name: 'Former name', reason: 'Idle' } })
  }
  await send(rita.headers, { title: 'Own', data: { rom_id: 'no number', rom_name: 'Mine' } })
  await app.pg.query("update roms set name = 'New name' where id = any($1)", [[seen, hidden]])
  await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [hidden, rita.id])
  t.same((await inbox(rita.headers)).map(({ data }) => (data as { rom_name: string }).rom_name), ['Mine', 'Former name', 'Former name', 'New name'])
})
