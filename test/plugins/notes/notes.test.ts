import t from 'tap'
import { awaitEarlierEvents, connect, idOf, joined, signIn } from '../../core/sockets-support.ts'
import { buildTestApp } from '../../support.ts'

const test = await buildTestApp(t)
const { app, admin, createUser } = test
const [alice, bob] = [await createUser('alice'), await createUser('bob')]
const insert = async (sql: string, values: unknown[] = []) =>
  (await app.pg.query<{ id: number }>(`${sql} returning id`, values)).rows[0]?.id ?? 0
const platform = await insert("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES')")
const addRom = (name: string) => insert(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
  values ($1, $2, 'roms/snes', $2, $2)`, [platform, name])
let rom = 0
let count = 0
t.beforeEach(async () => { rom = await addRom(`Game ${count++}`) })

interface Note { id: number, title: string, username: string, tags: string[] | null, content: string }
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const call = (headers: Record<string, string>, method: Method, path = '', payload?: object) =>
  app.inject({ method, url: `/api/roms/${rom}/notes${path}`, headers, ...(payload === undefined ? {} : { payload }) })
const add = async (headers: Record<string, string>, note: object) => (await call(headers, 'POST', '', note)).json<Note>()
const titles = async (headers: Record<string, string>, path = '') =>
  (await call(headers, 'GET', path)).json<Note[]>().map((note) => note.title)
const detail = async (headers: Record<string, string>) =>
  (await app.inject({ url: `/api/roms/${rom}`, headers })).json<{ has_notes: boolean, all_user_notes: Note[] }>()

t.test('a note is private to its author until it is public', async (t) => {
  const answer = await call(alice, 'POST', '', { title: 'Codes', content: 'up up', colour: 'red' })
  t.equal(answer.statusCode, 200, answer.body)
  t.match(answer.json(), {
    title: 'Codes', content: 'up up', is_public: false, tags: [], username: 'alice', user_avatar_path: '', user_updated_at: /\+00:00$/
  })
  t.same(await titles(bob), [])
  t.match(await detail(bob), { has_notes: false, all_user_notes: [] })
  t.match(await detail(alice), { has_notes: true, all_user_notes: [{ title: 'Codes' }] })
  const { id } = answer.json<Note>()
  await call(alice, 'PUT', `/${id}`, { is_public: true, tags: null })
  t.match((await call(bob, 'GET')).json(), [{ title: 'Codes', content: 'up up', tags: null, username: 'alice' }])
  t.match(await detail(bob), { has_notes: true, all_user_notes: [{ title: 'Codes' }] })
})

t.test('changes of a private note are announced to its author alone', async (t) => {
  const socket = await connect(t, app, { cookie: await signIn(app, 'bob') })
  await joined(app, `user:${await idOf(test, 'bob')}`)
  let announced = 0
  socket.on('notes:changed', () => { announced++ })
  const countAfter = async (change: Promise<unknown>) => {
    await change
    await awaitEarlierEvents(socket, app)
    return announced
  }
  const { id } = await add(alice, { title: 'Codes' })
  t.equal(await countAfter(call(alice, 'PUT', `/${id}`, { content: 'down' })), 0)
  t.equal(await countAfter(call(alice, 'PUT', `/${id}`, { is_public: true })), 1)
  t.equal(await countAfter(call(alice, 'PUT', `/${id}`, { is_public: false })), 2, 'bob sees that it is gone')
  t.equal(await countAfter(call(alice, 'DELETE', `/${id}`)), 2)
})

t.test('the notes of one user about a ROM are limited in number and size', async (t) => {
  await app.pg.query(`insert into notes (rom_id, user_id, title, content, is_public)
    select $1, (select id from users where username = 'alice'), 'Note ' || n, '', true from generate_series(1, 99) n`, [rom])
  const { id } = await add(alice, { title: 'Note 100', content: 'x'.repeat(256 * 1024) })
  const more = await call(alice, 'POST', '', { title: 'One more' })
  t.match([more.statusCode, more.json()], [409, { detail: 'You have 100 notes about this ROM already; delete one first' }])
  t.equal((await call(bob, 'POST', '', { title: "Somebody else's" })).statusCode, 200)
  await app.pg.query("update notes set content = repeat('x', 256 * 1024) where rom_id = $1 and title in ('Note 1', 'Note 2', 'Note 3')", [rom])
  const longer = await call(alice, 'PUT', `/${id}`, { tags: ['boss'] })
  t.match([longer.statusCode, longer.json()], [409, { detail: /^Your notes about this ROM would have more than 1048576 characters; / }])
  t.equal((await call(alice, 'PUT', `/${id}`, { content: 'short' })).statusCode, 200)
  t.same((await detail(bob)).all_user_notes.filter(({ tags }) => tags?.includes('boss')), [])
})

t.test('only the author changes or deletes a note, and no administrator does', async (t) => {
  const { id } = await add(alice, { title: 'Hers', is_public: true })
  for (const headers of [bob, admin]) {
    for (const method of ['PUT', 'DELETE'] as const) {
      const answer = await call(headers, method, `/${id}`, method === 'PUT' ? { title: 'His' } : undefined)
      t.equal(answer.statusCode, 404)
      t.match(answer.json(), { detail: 'Note not found or not owned by user' })
    }
  }
  t.same(await titles(alice), ['Hers'])
  t.same((await call(alice, 'DELETE', `/${id}`)).json(), { message: 'Note deleted successfully' })
  t.same(await titles(alice), [])
})

t.test('a list is filtered by text and tags, latest change first', async (t) => {
  const first = await add(alice, { title: 'First 100%', tags: ['boss', 'map'] })
  const second = await add(alice, { title: 'Second', content: 'a MAP of it', tags: ['map'] })
  const third = await add(bob, { title: 'Third', is_public: true })
  t.same(await titles(alice), ['Third', 'Second', 'First 100%'])
  await call(alice, 'PUT', `/${first.id}`, { content: 'new' })
  t.same(await titles(alice), ['First 100%', 'Third', 'Second'])
  t.same((await call(alice, 'GET', '/identifiers')).json(), [first.id, third.id, second.id])
  t.same(await titles(alice, '?search=map'), ['Second'])
  t.same(await titles(alice, '?search=%25'), ['First 100%'])
  t.same(await titles(alice, '?tags=map&tags=boss'), ['First 100%'])
  t.same(await titles(alice, '?public_only=true'), ['Third'])
})

t.test('a title is required, and unique for each author and ROM', async (t) => {
  for (const body of [{}, { title: '' }, { title: 'x'.repeat(401) }, { title: 'nul\0' }, { title: 'x', tags: 'map' }]) {
    t.equal((await call(alice, 'POST', '', body)).statusCode, 422)
  }
  await add(alice, { title: 'Same' })
  const other = await add(alice, { title: 'Other' })
  t.equal((await call(bob, 'POST', '', { title: 'Same' })).statusCode, 200)
  t.match((await call(alice, 'POST', '', { title: 'Same' })).json(), { detail: /You already have a note 'Same'/ })
  t.equal((await call(alice, 'PUT', `/${other.id}`, { title: 'Same' })).statusCode, 409)
  t.equal((await call(alice, 'PUT', `/${other.id}`, { title: 'Other' })).statusCode, 200)
})

t.test('notes of a hidden ROM are hidden, and return with the file of the ROM', async (t) => {
  await add(alice, { title: 'Kept', is_public: true })
  await insert("insert into hidden_entities (entity, entity_id, user_id) select 'roms', $1, id from users where username = 'bob'", [rom])
  t.equal((await call(bob, 'GET')).statusCode, 404)
  t.equal((await call(bob, 'POST', '', { title: 'x' })).statusCode, 404)
  await app.pg.query('delete from roms where id = $1', [rom])
  t.equal((await call(alice, 'GET')).statusCode, 404)
  await insert(`insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    values ($1, $2, 'Back', 'roms/snes', 'Back', 'Back')`, [rom, platform])
  t.same(await titles(alice), ['Kept'])
})
