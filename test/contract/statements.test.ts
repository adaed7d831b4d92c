import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import t from 'tap'
import { addRom } from '../plugins/roms/support.ts'
import { buildTestApp } from '../support.ts'

/*
 * How many statements a request costs, of which each is a round trip. A route of this table that needs one more has to
 * be worth it; one that needs fewer is written down.
 */
const STATEMENTS: Record<string, number> = {
  '/api/health': 0,
  '/api/heartbeat': 1,
  '/api/users/me': 2,
  '/api/permissions/me': 1,
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

/** Who calls is looked up once a second, and so for some requests and not for others. */
const OF_CALLER = /from client_tokens t join users u|from users u left join permission_groups/

const asked = new AsyncLocalStorage<string[]>()

/** Notes the texts that the connections of a pool are asked by one request. */
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

t.test('no request of the routes that apps use most costs more statements than it did', async (t) => {
  const testApp = await buildTestApp(t, { library: { roms: { snes: { 'a.sfc': 'a' } } } })
  const { app, createUser } = testApp
  watch(app.pg)
  watch(await app.orm.em.getDriver().getConnection().getNativeClient())
  const hash = 'a'.repeat(40)
  const rom = await addRom(testApp, { fs_name: 'a.sfc', matches: { igdb: 1 }, fields: { sha1_hash: hash } })
  await addRom(testApp, { fs_name: 'b.sfc', matches: { igdb: 1 } })
  const [platform] = (await app.pg.query<{ id: number }>('select id from platforms')).rows
  const member = await createUser('alice')
  const { raw_token: token } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: member,
    payload: { name: 'x', scopes: ['me.read', 'roms.read', 'platforms.read', 'assets.read', 'devices.read', 'roms.user.read'] }
  })).json()
  const headers = { authorization: `Bearer ${token}` }
  const places = { ':rom': rom, ':platform': platform?.id, ':hash': hash }
  for (const [route, statements] of Object.entries(STATEMENTS)) {
    const url = Object.entries(places).reduce((text, [name, value]) => text.replace(name, String(value)), route)
    await app.inject({ url, headers })
    const texts: string[] = []
    const { statusCode } = await asked.run(texts, async () => await app.inject({ url, headers }))
    const counted = texts.filter((text) => !OF_CALLER.test(text))
    t.equal(statusCode, 200, route)
    t.equal(counted.length, statements, `${route}: ${counted.map((text) => text.trim().slice(0, 60)).join(' | ')}`)
  }
})
