import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import t from 'tap'
import { addRom } from '../plugins/roms/support.ts'
import { buildTestApp } from '../support.ts'
import { until } from '../until.ts'

/*
 * Number of statements of a request, each of which is a round trip. An additional statement needs a good reason; a
 * removed one is entered here.
 */
const STATEMENTS: Record<string, number> = {
  '/api/health': 0,
  '/api/heartbeat': 1,
  '/api/users/me': 2,
  '/api/permissions/me': 0,
  '/api/platforms': 3,
  '/api/platforms/:platform': 3,
  '/api/roms?limit=50': 2,
  '/api/roms?limit=50&with_total=false&with_char_index=false&with_rom_id_index=false&with_filter_values=false': 2,
  '/api/roms/:rom': 1,
  '/api/roms/:rom/simple': 1,
  '/api/roms/random': 2,
  '/api/roms/identifiers': 1,
  '/api/roms/filters': 1,
  '/api/roms/by-hash?sha1_hash=:hash': 1,
  '/api/saves?rom_id=:rom': 1,
  '/api/states?rom_id=:rom': 1,
  '/api/saves/summary?rom_id=:rom': 1,
  '/api/devices': 1,
  '/api/notifications': 1,
  '/api/play-sessions': 1,
  '/api/activity': 1
}

/** Callers are looked up once a second, so only some requests contain these statements. */
const OF_CALLER = /from client_tokens t join users u|from users u left join permission_groups/

const asked = new AsyncLocalStorage<string[]>()

/** Records the statements that one request sends over the connections of a pool. */
function watch (pool: pg.Pool): void {
  const watched = new WeakSet<pg.PoolClient>()
  pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Reflect.set(client, 'query', (...args: unknown[]) => {
      asked.getStore()?.push(String(args[0]))
      return query(...args)
    })
  })
}

t.test('no request of the most used routes costs more statements than before', async (t) => {
  const testApp = await buildTestApp(t, { library: { roms: { snes: { 'a.sfc': 'a' } } } })
  const { app, createUser } = testApp
  watch(app.pg)
  const hash = 'a'.repeat(40)
  const rom = await addRom(testApp, { fs_name: 'a.sfc', matches: { igdb: 1 }, fields: { sha1_hash: hash } })
  const another = await addRom(testApp, { fs_name: 'b.sfc', matches: { igdb: 1 } })
  const [platform] = (await app.pg.query<{ id: number }>('select id from platforms')).rows
  const member = await createUser('alice')
  const { raw_token: token } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: member,
    payload: { name: 'x', scopes: ['me.read', 'roms.read', 'platforms.read', 'assets.read', 'devices.read', 'roms.user.read'] }
  })).json()
  const headers = { authorization: `Bearer ${token}` }
  const places = { ':rom': rom, ':platform': platform?.id, ':hash': hash }
  async function count (url: string): Promise<string[]> {
    const texts: string[] = []
    const { statusCode } = await asked.run(texts, async () => await app.inject({ url, headers }))
    t.equal(statusCode, 200, url)
    return texts.filter((text) => !OF_CALLER.test(text))
  }
  const now = Date.now()
  // Some values are cached for a second, which never ends.
  const clock = t.intercept(Date, 'now', { value: () => now })
  for (const [route, statements] of Object.entries(STATEMENTS)) {
    const url = Object.entries(places).reduce((text, [name, value]) => text.replace(name, String(value)), route)
    await app.inject({ url, headers })
    const counted = await count(url)
    t.equal(counted.length, statements, `${route}: ${counted.map((text) => text.trim().slice(0, 60)).join(' | ')}`)
  }
  clock.restore()
  await app.pg.query(`insert into smart_collections (user_id, name, filter_criteria)
    select id, 'Finished', '{"statuses":["finished"]}' from users where username = 'alice'`)
  t.ok(await until(async () => (await count(`/api/roms/${rom}`)).length === 1, 'a cached smart collection'))
  const at = performance.now()
  // The clock stands still, so the library is never unchanged for a second.
  t.intercept(performance, 'now', { value: () => at })
  await app.pg.query("update roms set summary = 'x' where id = $1", [another])
  t.equal((await count(`/api/roms/${rom}`)).length, 2, 'the log of changes is read after a change of another ROM')
  t.equal((await count(`/api/roms/${rom}`)).length, 1, 'and its result is cached')
  await app.pg.query('update smart_collections set filter_criteria = \'{"matched":true}\'')
  let isRead = false
  for (let times = 0; times < 100 && !isRead; times++) {
    await app.pg.query('update roms set summary = summary where id = $1', [another])
    isRead = !(await count(`/api/roms/${rom}`)).some((text) => text.includes('as key'))
  }
  t.ok(isRead, 'a collection is read while other ROMs change')
})
