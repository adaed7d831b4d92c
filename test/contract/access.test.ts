import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import t from 'tap'
import { buildTestApp } from '../support.ts'

interface Operation { operationId: string, security: Record<string, string[]>[] }
interface Document {
  paths: Record<string, Record<string, Operation>>
  'x-socket-events': { name: string, scopes: string[] }[]
}

const { app, createUser } = await buildTestApp(t)
await app.listen({ port: 0, host: '127.0.0.1' })
const alice = await createUser('alice')
const bob = await createUser('bob')
const document: Document = (await app.inject('/openapi.json')).json()

async function insert (sql: string, values: unknown[] = []): Promise<number> {
  const { rows: [row] } = await app.pg.query<{ id: number }>(`${sql} returning id`, values)
  return row?.id ?? 0
}

const userId = async (name: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [name])).rows[0]?.id ?? 0

/** Things of alice, and a platform with a ROM that is hidden from bob. */
async function makeThings () {
  const [owner, other] = [await userId('alice'), await userId('bob')]
  const platform = await insert("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES')")
  const rom = await insert(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    values ($1, 'Game.sfc', 'roms/snes', 'Game', 'Game')`, [platform])
  const file = await insert(`insert into rom_files (rom_id, file_name, file_path, last_modified)
    values ($1, 'Game.sfc', 'roms/snes', now())`, [rom])
  await insert("insert into hidden_entities (entity, entity_id, user_id) values ('platforms', $1, $2)", [platform, other])
  const token = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: alice, payload: { name: 'x', scopes: ['me.read'] }
  })).json<{ id: number }>().id
  await app.inject({ method: 'POST', url: '/api/login', headers: alice })
  const session = (await app.pg.query<{ id: number }>('select id from sessions where user_id = $1', [owner])).rows[0]?.id ?? 0
  return { user: owner, platform, rom, file, token, session }
}
const things = await makeThings()

/** For each operation on one thing: the path for a thing that is not bob's or hidden from him, and what he is told. */
const FOREIGN: Record<string, [path: string, status: number]> = {
  revokeSession: [`/api/sessions/${things.session}`, 404],
  deleteClientToken: [`/api/client-tokens/${things.token}`, 404],
  regenerateClientToken: [`/api/client-tokens/${things.token}/regenerate`, 404],
  pairClientToken: [`/api/client-tokens/${things.token}/pair`, 404],
  // The accounts of others are known to be there: who may not change them is told so.
  updateUser: [`/api/users/${things.user}`, 403],
  refreshUserAchievements: [`/api/users/${things.user}/ra/refresh`, 403],
  getUserAvatar: [`/api/users/${things.user}/avatar`, 404],
  getDeviceAuthorization: ['/api/auth/device/pending/ABCDEFGH', 404],
  getPlatform: [`/api/platforms/${things.platform}`, 404],
  getRom: [`/api/roms/${things.rom}`, 404],
  getSimpleRom: [`/api/roms/${things.rom}/simple`, 404],
  updateRomProps: [`/api/roms/${things.rom}/props`, 404],
  getRomFile: [`/api/roms/${things.file}/files`, 404],
  getRomContent: [`/api/roms/${things.rom}/content/Game.sfc`, 404],
  getRomFileContent: [`/api/roms/${things.file}/files/content/Game.sfc`, 404]
}
const BODIES: Record<string, object> = { updateRomProps: { hidden: true }, refreshUserAchievements: {} }

const TABLES = ['client_tokens', 'sessions', 'roms', 'rom_users', 'platforms', 'pairing_codes']
const dump = async () => JSON.stringify(await Promise.all(TABLES
  .map(async (table) => (await app.pg.query(`select * from ${table} order by 1`)).rows as unknown[])))

t.test("every operation on one thing refuses what is another's or hidden, and changes nothing", async (t) => {
  const me = (await app.inject({ url: '/api/users/me', headers: bob })).json<{ oauth_scopes: string[] }>()
  const scopes = me.oauth_scopes
  const before = await dump()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      if (!path.includes('{') || security.length === 0) continue
      const sets = security.flatMap((one) => Object.values(one))
      const isHeld = sets.some((wanted) => wanted.every((scope) => scopes.includes(scope)))
      const [url, status] = FOREIGN[operationId] ?? [path.replace(/\{\w+\}/g, '1'), isHeld ? null : 403]
      if (status === null) {
        t.fail(`${operationId} acts on one thing: say in this file what somebody else is answered`)
        continue
      }
      const reply = await app.inject({
        method: method.toUpperCase() as 'GET', url, headers: bob,
        ...(BODIES[operationId] === undefined ? {} : { payload: BODIES[operationId] })
      })
      t.equal(reply.statusCode, status, `${operationId}: ${reply.body.slice(0, 200)}`)
    }
  }
  t.equal(await dump(), before)
})

t.test('every event a client may send is refused to guests and to members without its scopes', async (t) => {
  const events = document['x-socket-events']
  t.ok(events.length > 0)
  const session = (await app.inject({ method: 'POST', url: '/api/login', headers: bob })).cookies
    .find(({ name }) => name === 'svc_session')?.value
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const held: string[] = (await app.inject({ url: '/api/users/me', headers: bob })).json<{ oauth_scopes: string[] }>().oauth_scopes
  for (const cookie of [null, `svc_session=${session}`]) {
    const socket = io(base, {
      path: '/ws/socket.io', transports: ['websocket'], forceNew: true,
      ...(cookie === null ? {} : { extraHeaders: { cookie } })
    })
    t.teardown(() => { socket.disconnect() })
    await once(socket as never, 'connect')
    for (const { name, scopes } of events) {
      t.ok(scopes.length > 0, `${name} needs a scope`)
      if (cookie !== null && scopes.every((scope) => held.includes(scope))) continue
      const answer = new Promise<unknown[]>((resolve) => { socket.onAny((...given: unknown[]) => { resolve(given) }) })
      socket.emit(name, {})
      t.match(await answer, [String, /not authorized/], `${name} by ${cookie === null ? 'a guest' : 'a member'}`)
      socket.offAny()
    }
  }
  t.equal((await app.pg.query('select 1 from tasks')).rowCount, 0, 'nothing was started')
})
