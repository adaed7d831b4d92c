import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createClient } from '../../plugins/assets/support.ts'
import { addRom } from '../../plugins/roms/support.ts'
import { shareTestApp } from '../../support.ts'

const fresh = shareTestApp(t)

t.test('a call without credentials is refused and says how to authenticate', async (t) => {
  const { app } = await fresh(t)
  const reply = await app.inject({ url: '/api/users/me' })
  t.equal(reply.statusCode, 401)
  t.equal(reply.headers['www-authenticate'], 'Bearer')
  t.same(reply.json(), { detail: 'Not authenticated' })
})

t.test('a user lacks the scopes of an administrator', async (t) => {
  const { app, createUser } = await fresh(t)
  const headers = await createUser('alice')
  t.equal((await app.inject({ url: '/api/users', headers })).statusCode, 403)
  const me = await app.inject({ url: '/api/users/me', headers })
  t.equal(me.statusCode, 200)
  t.equal(me.json().username, 'alice')
  t.notOk(me.json().oauth_scopes.includes('tasks.run'))
})

t.test('responses for a caller are not cached, except artwork, which sets its own header', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'Game.sfc': 'the whole game' } } } })
  const { app, admin, config } = test
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const user = createClient(test, await test.createUser('alice'))
  const save = await user.save({ rom_id: rom }, 'Game.srm', 'a save')
  const cacheControlOf = async (url: string, status: number, headers = admin) => {
    const reply = await app.inject({ url, headers })
    t.equal(reply.statusCode, status, `${url}: ${reply.body}`)
    return reply.headers['cache-control']
  }
  for (const [url, status] of [['/api/users/me', 200], ['/api/roms', 200], ['/api/roms/999999', 404], ['/api/roms/x', 422],
    ['/api/audit-log?limit=0', 422]] as const) {
    t.equal(await cacheControlOf(url, status), 'private, no-store', url)
  }
  t.equal((await user.call('GET', '/api/users')).headers['cache-control'], 'private, no-store', 'a refusal')
  t.equal((await user.call('GET', `/api/saves/${save.id}/content`)).headers['cache-control'], 'private, no-cache')
  t.equal((await user.call('GET', '/api/saves/999999/content')).headers['cache-control'], 'private, no-store')
  t.equal(await cacheControlOf(`/api/roms/${rom}/content/Game.sfc`, 200), 'private, no-cache')
  t.equal(await cacheControlOf('/api/heartbeat', 200, { authorization: '' }), undefined, 'what was made for nobody in particular')

  const cover = join(config.data_dir, 'resources/roms/1/2/cover/big.png')
  await mkdir(dirname(cover), { recursive: true })
  await writeFile(cover, 'picture')
  const place = app.resources.marked.toPath('roms/1/2/cover/big.png')
  t.equal(await cacheControlOf(`/assets/svc/resources/${place}`, 200), 'public, max-age=3600, must-revalidate')
})
