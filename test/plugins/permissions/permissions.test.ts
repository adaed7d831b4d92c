import { type Socket, io } from 'socket.io-client'
import t from 'tap'
import { GRANT_ENTITIES } from '../../../core/access/grants.ts'
import { ACTION_KEYS } from '../../../plugins/permissions/actions.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { buildTestApp } from '../../support.ts'
import { signIn } from '../auth/support.ts'
import { addRom } from '../roms/support.ts'

type Headers = Record<string, string>
interface Group { id: number, name: string, is_default: boolean, member_count: number, grants: object[] }

const test = await buildTestApp(t)
const { app, admin, createUser } = test
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const [alice, bob]: [Headers, Headers] = [await createUser('alice'), await createUser('bob')]

const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object, headers: Headers = admin) =>
  app.inject({ method, url: `/api/permissions/${path}`, headers, ...(payload === undefined ? {} : { payload }) })
const idOf = async (username: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [username])).rows[0]?.id ?? 0
const [aliceId, bobId] = [await idOf('alice'), await idOf('bob')]
const listGroups = async () => (await call('GET', 'groups')).json<Group[]>()
const statusOf = async (path: string, headers: Headers) => (await app.inject({ url: `/api/${path}`, headers })).statusCode

async function create (name: string, fields: object = {}): Promise<Group> {
  const reply = await call('POST', 'groups', { name, ...fields })
  if (reply.statusCode !== 201) throw new Error(reply.body)
  return reply.json<Group>()
}

async function makeDefault (name: string): Promise<void> {
  const group = (await listGroups()).find((one) => one.name === name)
  await call('PUT', `groups/${group?.id}`, { is_default: true })
}

/** Resets the permissions of alice. */
t.afterEach(async () => {
  await app.pg.query('delete from permission_overrides')
  await app.pg.query('delete from hidden_entities')
  await app.pg.query('update users set permission_group_id = null, age_limit = null, hide_unrated_roms = null')
})

t.test('of several rules that are stored for a user at once, one remains', async (t) => {
  const replies = await Promise.all(GRANT_ENTITIES.map((entity) =>
    call('PUT', `users/${aliceId}`, { overrides: [{ entity, action: 'read', granted: true }] })))
  t.same(replies.map(({ statusCode }) => statusCode), GRANT_ENTITIES.map(() => 200))
  t.match((await call('GET', `users/${aliceId}`)).json(), { overrides: { length: 1 } })
})

t.test('a group is created, changed and deleted', async (t) => {
  const made = await create('Night owls', { color: '#00ff0080', grants: [{ entity: 'roms', action: 'read' }], age_limit: 12 })
  t.match(made, {
    name: 'Night owls', description: '', is_default: false, is_system: false, color: '#00ff0080', member_count: 0, hidden: [],
    grants: [{ entity: 'roms', action: 'read', own_only: false }], age_limit: 12, hide_unrated_roms: false
  })
  await call('PUT', `users/${aliceId}`, { set_group: true, permission_group_id: made.id })
  const changed = await call('PUT', `groups/${made.id}`, { name: 'Larks', description: null, age_limit: 3, grants: [] })
  t.match(changed.json(), { name: 'Larks', description: '', grants: [], age_limit: 12, member_count: 1 }, 'ages only when told so')
  t.match((await call('PUT', `groups/${made.id}`, { set_age_settings: true, hide_unrated_roms: true })).json(),
    { age_limit: null, hide_unrated_roms: true, color: '#00ff0080' })
  t.equal((await call('POST', 'groups', { name: 'Larks' })).statusCode, 400, 'the name is taken')
  t.equal((await call('PUT', `groups/${made.id}`, { name: 'Members' })).statusCode, 400)
  t.same((await listGroups()).map(({ name }) => name), ['Editors', 'Larks', 'Members'], 'by name')
  const gone = await call('DELETE', `groups/${made.id}`)
  t.same([gone.statusCode, gone.body], [200, 'null'])
  t.match((await call('GET', `users/${aliceId}`)).json(), { permission_group_id: null }, 'its members follow the default group')
  for (const method of ['PUT', 'DELETE'] as const) t.equal((await call(method, `groups/${made.id}`, {})).statusCode, 404)
})

t.test('exactly one group is the default, until another replaces it', async (t) => {
  const [members] = (await listGroups()).filter((group) => group.is_default)
  t.equal((await call('DELETE', `groups/${members?.id}`)).statusCode, 400)
  t.equal((await call('PUT', `groups/${members?.id}`, { is_default: false })).statusCode, 400)
  const guests = await create('Guests', { is_default: true, grants: [{ entity: 'platforms', action: 'read' }] })
  t.same((await listGroups()).filter((group) => group.is_default).map(({ name }) => name), ['Guests'])
  t.same([await statusOf('platforms', alice), await statusOf('roms', alice)], [200, 403], 'it applies to those without a group')
  await makeDefault('Members')
  t.equal(await statusOf('roms', alice), 200)
  t.equal((await call('DELETE', `groups/${guests.id}`)).statusCode, 200)
})

t.test('invalid groups and rules are refused', async (t) => {
  for (const [payload, status] of [
    [{}, 422], [{ name: '' }, 422], [{ name: 'x'.repeat(256) }, 422], [{ name: 'x', color: 'red' }, 422],
    [{ name: 'x', description: 'x'.repeat(1001) }, 422], [{ name: 'x', age_limit: 22 }, 422], [{ name: 'x\0' }, 422],
    [{ name: 'x', grants: [{ entity: 'everything', action: 'read' }] }, 422], [{ name: 'x', grants: [{ entity: 'roms' }] }, 422]
  ] as const) t.equal((await call('POST', 'groups', payload)).statusCode, status, JSON.stringify(payload).slice(0, 60))
  t.equal((await call('PUT', 'users/99999', {})).statusCode, 404)
  t.equal((await call('GET', 'users/99999')).statusCode, 404)
  t.equal((await call('PUT', `users/${aliceId}`, { set_group: true, permission_group_id: 99_999 })).statusCode, 404)
  t.equal((await call('PUT', `users/${aliceId}`, { overrides: [{ entity: 'roms', action: 'read' }] })).statusCode, 422)
  t.equal((await call('PUT', 'users/x', {})).statusCode, 422)
  t.match(await call('PUT', `users/${aliceId}`, { override: [], grants: [] }), { statusCode: 422, body: /override/ }, 'a misspelt key')
})

t.test('overrides extend and restrict an account and its tokens at once', async (t) => {
  const { raw_token: raw } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: bob, payload: { name: 'x', scopes: ['roms.read', 'me.read'] }
  })).json<{ raw_token: string }>()
  const token = { authorization: `Bearer ${raw}` }
  t.same([await statusOf('roms', token), await statusOf('users', token), await statusOf('users', bob)], [200, 403, 403])
  const rules = await call('PUT', `users/${bobId}`, {
    overrides: [{ entity: 'roms', action: 'read', granted: false }, { entity: 'users', action: 'read', granted: true }]
  })
  t.match(rules.json(), { overrides: [{ entity: 'roms', granted: false }, { entity: 'users', granted: true, own_only: false }] })
  t.same([await statusOf('roms', token), await statusOf('roms', bob), await statusOf('users', bob)], [403, 403, 200])
  t.equal(await statusOf('users', token), 403, 'a token never holds more than it names')
  t.equal((await call('GET', 'groups', undefined, bob)).statusCode, 403, 'the scope alone makes no administrator')
  await call('PUT', `users/${bobId}`, { set_group: false, permission_group_id: 99_999 })
  t.equal(await statusOf('roms', token), 403, 'what is absent stays')
  await call('PUT', `users/${bobId}`, { overrides: [] })
  t.same([await statusOf('roms', token), await statusOf('users', bob)], [200, 403])
})

t.test('V8: a grant for own objects gives the scope, but no access to those of others', async (t) => {
  const romId = await addRom(test, { fs_name: 'Harbor.sfc' })
  const platformId = (await app.pg.query<{ platform_id: number }>('select platform_id from roms where id = $1', [romId])).rows[0]?.platform_id
  const remove = async () => (await app.inject({ method: 'DELETE', url: `/api/platforms/${platformId}`, headers: alice })).statusCode
  const grant = (action: string, ownOnly: boolean) => ({ entity: 'platforms', action, granted: true, own_only: ownOnly })
  await call('PUT', `users/${aliceId}`, { overrides: [grant('write', false)] })
  t.equal(await remove(), 403, 'to write is not to delete')
  await call('PUT', `users/${aliceId}`, { overrides: [grant('write', false), grant('delete', true)] })
  t.equal(await remove(), 403, 'the library is nobody’s own')
  t.match((await call('GET', 'me', undefined, alice)).json<{ grants: object[] }>().grants
    .some((one) => JSON.stringify(one).includes('platform.delete')), true)
  await call('PUT', `users/${aliceId}`, { overrides: [grant('write', false), grant('delete', false)] })
  t.equal(await remove(), 200)
})

t.test('V8: a grant for own objects of a kind without owners gives no scope', async (t) => {
  const victim = await createUser('victim')
  const romId = await addRom(test, { fs_name: 'Quay.sfc' })
  const own = ['platforms', 'roms', 'firmware', 'users', 'tasks', 'logs'].flatMap((entity) =>
    ['read', 'write', 'delete'].map((action) => ({ entity, action, granted: true, own_only: true })))
  await call('PUT', `users/${aliceId}`, { overrides: own })
  const send = async (method: 'GET' | 'PUT' | 'DELETE', path: string) =>
    (await app.inject({ method, url: `/api/${path}`, headers: alice, ...method === 'PUT' ? { payload: {} } : {} })).statusCode
  for (const path of ['platforms', 'roms', 'firmware', 'users', 'tasks', 'logs']) t.equal(await send('GET', path), 403, path)
  t.equal(await send('PUT', `roms/${romId}`), 403, 'nobody owns a ROM')
  t.equal(await send('DELETE', `users/${await idOf('victim')}`), 403, 'nobody owns an account')
  t.equal(await statusOf('users/me', victim), 200, 'the other account is still there')
  await call('PUT', `users/${aliceId}`, { overrides: own.map((one) => ({ ...one, own_only: false })) })
  t.equal(await send('DELETE', `users/${await idOf('victim')}`), 200, 'a grant for all objects gives the scope')
})

t.test('V3: a grant to read own collections, playlists and assets hides public ones', async (t) => {
  const romId = await addRom(test, { fs_name: 'Pier.sfc' })
  const add = async (sql: string) => (await app.pg.query<{ id: number }>(`${sql} returning id`)).rows[0]?.id ?? 0
  const addAll = async (name: string, userId: number) => ({
    collections: await add(`insert into collections (user_id, name, is_public) values (${userId}, '${name}', true)`),
    'collections/smart': await add(`insert into smart_collections (user_id, name, is_public, filter_criteria)
      values (${userId}, '${name}', true, '{}')`),
    'music/playlists': await add(`insert into music_playlists (user_id, name, is_public) values (${userId}, '${name}', true)`)
  })
  const [hers, his] = [await addAll('Alice’s', aliceId), await addAll('Bob’s', bobId)]
  await app.pg.query('insert into collection_roms (collection_id, rom_id) select id, $1 from collections', [romId])
  await app.pg.query(`insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path, is_public)
    select 'save', id, $1, 'x', 'Pier.sfc', username || '.srm', 'x', 'x', true from users where username in ('alice', 'bob')`, [romId])
  const read = async (path: string) => await app.inject({ url: `/api/${path}`, headers: alice })
  const statuses = async (ids: Record<string, number>) =>
    await Promise.all(Object.entries(ids).map(async ([path, id]) => (await read(`${path}/${id}`)).statusCode))
  t.same([await statuses(hers), await statuses(his)], [[200, 200, 200], [200, 200, 200]])
  t.match((await read(`roms/${romId}`)).json(), { user_collections: { length: 4 } })
  t.match((await read('stats')).json(), { SAVES: 2 })
  await call('PUT', `users/${aliceId}`, {
    overrides: ['collections', 'playlists', 'assets'].map((entity) => ({ entity, action: 'read', granted: true, own_only: true }))
  })
  t.same([await statuses(hers), await statuses(his)], [[200, 200, 200], [404, 404, 404]])
  t.match((await read(`roms/${romId}`)).json(), { user_collections: { length: 2 } })
  t.match((await read('stats')).json(), { SAVES: 1 })
  for (const path of ['collections', 'collections/smart', 'music/playlists']) {
    const { body } = await read(path)
    t.same([body.includes('Alice’s'), body.includes('Bob’s')], [true, false], path)
  }
  t.match((await read(`roms?collection_id=${his.collections}`)).json(), { total: 0 })
  t.equal((await app.inject({ method: 'DELETE', url: `/api/collections/${his.collections}`, headers: alice })).statusCode, 404)
})

t.test('everybody sees their own permissions; only administrators see what is hidden', async (t) => {
  const actions = async (headers: Headers) =>
    (await call('GET', 'me', undefined, headers)).json<{ grants: { action: string, scope: object }[] }>().grants
  const all = (await call('GET', 'me')).json()
  t.match(all, { is_admin: true, hidden: { platforms: [], roms: [] } })
  t.same((await actions(admin)).map(({ action }) => action), ACTION_KEYS)
  t.same((await actions(alice)).map(({ action }) => action), ['rom.view', 'rom.play', 'rom.download', 'rom.favorite',
    'platform.view', 'collection.view', 'collection.create', 'collection.edit', 'collection.delete'])
  for (const { scope } of await actions(alice)) t.same(scope, { kind: 'global', id: null })
  const [members] = (await listGroups()).filter((group) => group.is_default)
  for (const place of [{ entity: 'roms', entity_id: 9, user_id: aliceId }, { entity: 'roms', entity_id: 7, group_id: members?.id },
    { entity: 'roms', entity_id: 9, group_id: members?.id }, { entity: 'platforms', entity_id: 3, user_id: aliceId }]) {
    t.same([(await call('POST', 'hidden', place)).statusCode, (await call('POST', 'hidden', place)).statusCode], [200, 200], 'twice')
  }
  t.match((await call('GET', 'me', undefined, alice)).json(), { is_admin: false, hidden: { platforms: [], roms: [] } })
  t.match((await call('GET', `users/${aliceId}`)).json(), { hidden: [{ entity: 'platforms', entity_id: 3 }, { entity: 'roms', entity_id: 9 }] })
})

t.test('a DELETE with a body shows a hidden object again', async (t) => {
  const place = { entity: 'roms', entity_id: 9, user_id: aliceId }
  await call('POST', 'hidden', place)
  const shown = await call('DELETE', 'hidden', place)
  t.same([shown.statusCode, shown.body], [204, ''])
  t.equal((await call('DELETE', 'hidden', place)).statusCode, 204, 'an absent row is no mistake')
  t.match((await call('GET', `users/${aliceId}`)).json(), { hidden: [] })
  for (const [wrong, status] of [
    [{ entity: 'roms', entity_id: 9 }, 400], [{ ...place, group_id: 1 }, 400], [{ ...place, entity: 'collections' }, 400],
    [{ ...place, user_id: 99_999 }, 404], [{ entity: 'roms', entity_id: 9, group_id: 99_999 }, 404], [{ entity: 'roms' }, 422]
  ] as const) t.equal((await call('POST', 'hidden', wrong)).statusCode, status, JSON.stringify(wrong))
})

t.test('only administrators see and change permissions', async (t) => {
  await call('PUT', `users/${aliceId}`, {
    overrides: ['read', 'write'].map((action) => ({ entity: 'users', action, granted: true }))
  })
  for (const [method, path] of [['GET', 'catalog'], ['GET', 'groups'], ['POST', 'groups'], ['PUT', 'groups/1'], ['DELETE', 'groups/1'],
    ['GET', `users/${aliceId}`], ['PUT', `users/${aliceId}`], ['POST', 'hidden'], ['DELETE', 'hidden']] as const) {
    t.equal((await call(method, path, method === 'GET' ? undefined : {}, alice)).statusCode, 403, `${method} ${path}`)
  }
  t.match((await call('GET', 'catalog')).json(), { entities: { length: 10 }, actions: ['read', 'write', 'delete'] })
})

async function connect (headers: Headers): Promise<Socket> {
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnection: false, forceNew: true, extraHeaders: headers })
  t.teardown(() => { socket.disconnect() })
  await new Promise<void>((resolve) => { socket.once('connect', resolve) })
  return socket
}

t.test('every socket gets one event for each changed user, and the log each change', async (t) => {
  const sockets = [await connect({}), await connect(await signIn(app, 'bob'))]
  for (const socket of sockets) await awaitEarlierEvents(socket, app)
  const heard: number[][] = sockets.map(() => [])
  const last = sockets.map((socket, index) => new Promise<void>((resolve) => {
    socket.on('permissions:changed', ({ user_id: id }: { user_id: number }) => {
      if (id === -1) resolve()
      else heard[index]?.push(id)
    })
  }))
  const adminId = await idOf('admin')
  const team = await create('Team')
  await call('PUT', `users/${aliceId}`, { set_group: true, permission_group_id: team.id })
  await call('PUT', `groups/${team.id}`, { grants: [] })
  await call('PUT', `groups/${team.id}`, { is_default: true })
  await call('POST', 'hidden', { entity: 'roms', entity_id: 9, group_id: team.id })
  await call('DELETE', 'hidden', { entity: 'roms', entity_id: 9, user_id: bobId })
  await makeDefault('Members')
  await call('DELETE', `groups/${team.id}`)
  app.permissions.announce([-1])
  await Promise.all(last)
  const everyone = [adminId, aliceId, bobId]
  const expected = [[aliceId], [aliceId], everyone, everyone, [bobId], [adminId, bobId], [aliceId]]
  for (const [index, ids] of heard.entries()) {
    const groups = expected.map((one) => ids.splice(0, one.length).sort((a, b) => a - b))
    t.same(groups, expected, `socket ${index}`)
    t.same(ids, [], 'and no more')
  }
  const { rows } = await app.pg.query<{ change: string }>(`select details->>'change' as change from audit_events
    where event = 'permissions.changed' order by id desc limit 8`)
  t.same(rows.map(({ change }) => change).reverse(), ['group created', 'user changed', 'group changed', 'group changed', 'hidden',
    'shown', 'group changed', 'group deleted'])
})
