import pg from 'pg'
import t from 'tap'
import { buildTestApp } from '../../support.ts'

interface Group { id: number, name: string, is_default: boolean }

/** Rounds of each pair of requests; `npm run soak` runs more. */
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 5)

const { app, admin, createUser, databaseUrl } = await buildTestApp(t)
const alice = await createUser('alice')
const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) => await app.inject({
  method, url: `/api/permissions/${path}`, headers: admin, ...(payload === undefined ? {} : { payload })
})
const listDefaults = async () => (await call('GET', 'groups')).json<Group[]>().filter((group) => group.is_default)
const create = async (name: string) => (await call('POST', 'groups', { name })).json<Group>()

t.test('deleting a group while it becomes the default leaves one default group', async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const { id, name } = await create(`Group ${round}`)
    const change = () => call('PUT', `groups/${id}`, { is_default: true })
    const remove = () => call('DELETE', `groups/${id}`)
    const order = round % 2 === 0 ? [change, remove] : [remove, change]
    const statuses = (await Promise.all(order.map((request) => request()))).map((reply) => reply.statusCode)
    t.ok(statuses.every((status) => [200, 204, 400, 404].includes(status)), statuses.join())
    t.equal((await listDefaults()).length, 1, name)
  }
  t.equal((await app.inject({ url: '/api/heartbeat' })).statusCode, 200)
})

t.test('making two groups the default at once leaves one default group', async (t) => {
  const [one, other] = [await create('One'), await create('Other')]
  for (let round = 0; round < ROUNDS; round++) {
    const replies = await Promise.all([one, other].map(({ id }) => call('PUT', `groups/${id}`, { is_default: true })))
    t.same(replies.map((reply) => reply.statusCode), [200, 200])
    t.equal((await listDefaults()).length, 1)
  }
})

t.test('the database refuses to remove its default group', async (t) => {
  await t.rejects(app.pg.query('delete from permission_groups where is_default'), { code: '23514' })
  await t.rejects(app.pg.query('update permission_groups set is_default = false'), { code: '23514' })
  t.equal((await listDefaults()).length, 1)
})

t.test('a database without a default group shows as little as possible', async (t) => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('set session_replication_role = replica')
  await client.query('update permission_groups set is_default = false')
  await client.end()
  t.equal((await app.inject({ url: '/api/heartbeat' })).statusCode, 200)
  t.match((await app.inject({ url: '/api/permissions/me', headers: alice })).json(), { is_admin: false, grants: [] })
  t.equal((await app.inject({ url: '/api/roms', headers: alice })).statusCode, 403)
  const [group] = (await call('GET', 'groups')).json<Group[]>()
  t.equal((await call('PUT', `groups/${group?.id}`, { is_default: true })).statusCode, 200, 'an administrator mends it')
  t.equal((await app.inject({ url: '/api/roms', headers: alice })).statusCode, 200)
})
