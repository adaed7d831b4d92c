import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { guestHeaders, signIn } from './support.ts'

t.test('in kiosk mode', async (t) => {
  const { app, admin, createUser } = await buildTestApp(t, { env: { KIOSK_MODE: 'true' } })
  await createUser('alice')
  const status = async (url: string, headers = {}) => (await app.inject({ url, headers })).statusCode

  await t.test('a request without credentials belongs to a guest who may read', async (t) => {
    const me = (await app.inject({ url: '/api/users/me' })).json()
    t.match(me, { id: -1, username: 'kiosk', role: 'user', email: null, current_device_id: null })
    t.same(me.oauth_scopes, ['me.read', 'roms.read', 'platforms.read', 'assets.read', 'devices.read', 'firmware.read',
      'roms.user.read', 'collections.read', 'playlists.read'])
    for (const url of ['/api/roms', '/api/platforms', '/api/permissions/me', '/api/sessions', '/api/client-tokens']) {
      t.equal(await status(url), 200, url)
    }
    t.equal(await status('/api/users'), 403)
    t.equal(await status('/api/tasks'), 403)
  })

  await t.test('the guest may write nothing', async (t) => {
    const document = (await app.inject({ url: '/openapi.json' })).json<{
      paths: Record<string, Record<string, { security: object[] }>>
    }>()
    const headers = await guestHeaders(app)
    const writes = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods)
      .filter(([method, operation]) => !['get', 'head'].includes(method) && operation.security.length > 0).map(([method]) => ({ method, path })))
    t.ok(writes.length > 20)
    for (const { method, path } of writes) {
      const reply = await app.inject({ method: method.toUpperCase() as 'POST', url: path.replace(/\{\w+\}/g, '1'), headers })
      t.equal(reply.statusCode, 403, `${method} ${path}`)
    }
    t.equal((await app.inject({
      method: 'POST', url: '/api/users', headers, payload: { username: 'eve', email: '', password: 'a password', role: 'admin' }
    })).statusCode, 403)
  })

  await t.test('the guest reads the library through WebDAV and is asked for a password for more', async (t) => {
    const send = async (method: string, path: string) => {
      const { statusCode, headers, body } = await app.inject({ method: method as 'GET', url: `/webdav${path}`, headers: { depth: '1' } })
      return { status: statusCode, challenge: headers['www-authenticate'], body }
    }
    for (const path of ['', '/library']) t.equal((await send('PROPFIND', path)).status, 207, path)
    t.notMatch((await send('PROPFIND', '')).body, /saves/)
    for (const [method, path] of [
      ['GET', '/manifest.server'], ['HEAD', '/saves/x/y.srm'], ['GET', '/saves/x/y.srm'], ['PROPFIND', '/saves'], ['PUT', '/saves/x/y.srm'],
      ['MKCOL', '/saves/'], ['MOVE', '/saves/x/y.srm'], ['DELETE', '/saves/x/y.srm']
    ] as const) t.match(await send(method, path), { status: 401, challenge: /^Basic /, body: '' }, `${method} ${path}`)
    t.equal((await app.pg.query('select 1 from devices')).rowCount, 0)
  })

  await t.test('the guest reads what the default group may read', async (t) => {
    const [group] = (await app.inject({ url: '/api/permissions/groups', headers: admin }))
      .json<{ id: number, is_default: boolean, grants: { entity: string }[] }[]>().filter((one) => one.is_default)
    await app.inject({
      method: 'PUT',
      url: `/api/permissions/groups/${group?.id}`,
      headers: admin,
      payload: { grants: group?.grants.filter(({ entity }) => entity !== 'firmware') }
    })
    t.notOk((await app.inject({ url: '/api/users/me' })).json<{ oauth_scopes: string[] }>().oauth_scopes.includes('firmware.read'))
    t.equal(await status('/api/roms'), 200)
  })

  await t.test('wrong credentials are still refused, and valid ones work', async (t) => {
    t.equal(await status('/api/roms', { authorization: 'Bearer x' }), 401)
    t.equal(await status('/api/roms', { authorization: 'Basic x' }), 401)
    t.equal(await status('/api/users', admin), 200)
    const headers = await signIn(app, 'alice')
    t.match((await app.inject({ url: '/api/users/me', headers })).json(), { username: 'alice' })
    const form = 'username=alice&password=a+password'
    const login = { method: 'POST', url: '/api/auth/login', payload: form } as const
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const origin = 'http://games.example'
    t.equal((await app.inject({ ...login, headers: { ...type, origin } })).statusCode, 403, 'a guest needs the CSRF pair too')
    t.equal((await app.inject({ ...login, headers: { ...type, ...await guestHeaders(app) } })).statusCode, 200)
  })
})
