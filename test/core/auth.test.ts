import t from 'tap'
import { buildTestApp } from '../support.ts'

t.test('a call without credentials is refused and says how to authenticate', async (t) => {
  const { app } = await buildTestApp(t)
  const reply = await app.inject({ url: '/api/users/me' })
  t.equal(reply.statusCode, 401)
  t.equal(reply.headers['www-authenticate'], 'Bearer')
  t.same(reply.json(), { detail: 'Not authenticated' })
})

t.test('a user lacks the scopes of an administrator', async (t) => {
  const { app, createUser } = await buildTestApp(t)
  const headers = await createUser('alice')
  t.equal((await app.inject({ url: '/api/users', headers })).statusCode, 403)
  const me = await app.inject({ url: '/api/users/me', headers })
  t.equal(me.statusCode, 200)
  t.equal(me.json().username, 'alice')
  t.notOk(me.json().oauth_scopes.includes('tasks.run'))
})
