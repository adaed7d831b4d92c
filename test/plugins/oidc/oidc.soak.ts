import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { createBrowser } from './support.ts'
import { startOidc } from './oidc-support.ts'

const { provider, CONFIGURED, test, app, introduce } = await startOidc(t)

t.test('a provider that is down only stops sign-ins through it, and is asked again', async (t) => {
  const other = await buildTestApp(t, {
    databaseUrl: test.databaseUrl, withoutAdmin: true, env: { ...CONFIGURED, OIDC_ALLOW_REGISTRATION: 'false' }
  })
  provider.isDown = true
  const reply = await other.app.inject({ url: '/api/login/openid' })
  t.equal(reply.statusCode, 503)
  t.match(reply.json().detail, /provider/)
  t.equal((await other.app.inject({ url: '/api/heartbeat' })).statusCode, 200)
  provider.isDown = false
  provider.requests.length = 0
  const replies = await Promise.all([1, 2, 3].map(() => other.app.inject({ url: '/api/login/openid' })))
  t.same(replies.map(({ statusCode }) => statusCode), [302, 302, 302])
  t.same(provider.requests, ['GET /.well-known/openid-configuration'], 'one question for all')

  const refused = await createBrowser(other).signIn(provider, introduce('mia'))
  t.equal(refused.statusCode, 403, 'and without registration nobody new comes in')
  await other.app.users.create({ username: 'mia', password: 'a password', email: 'mia@home.example', role: 'admin' })
  t.equal((await createBrowser(other).signIn(provider, 'mia')).statusCode, 307)
  const { rows: [mia] } = await other.app.pg.query("select role from users where username = 'mia'")
  t.same(mia, { role: 'admin' }, 'roles stay as they are here when no claim is configured')

  const roaming = createBrowser(other)
  const url = await roaming.visit(provider, 'mia')
  const headers = { cookie: `svc_oidc=${roaming.cookies.get('svc_oidc')}` }
  t.equal((await app.inject({ url, headers })).statusCode, 307, 'any process ends what another began')
  t.equal((await other.app.inject({ url, headers })).statusCode, 400, 'once')
})
