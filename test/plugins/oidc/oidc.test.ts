import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createSignInAccounts } from '../../../plugins/oidc/sign-in-accounts.ts'
import { createAttempts } from '../../../plugins/oidc/sign-in-attempts.ts'
import { toAuthorizationUrl } from '../../../plugins/oidc/exchange.ts'
import { cleanUsername, readIdentity } from '../../../plugins/oidc/identity.ts'
import { createProvider } from '../../../plugins/oidc/provider.ts'
import { OIDC_OFF } from '../../../plugins/oidc/oidc.ts'
import { applyRole } from '../../../plugins/oidc/roles.ts'
import { readSettings } from '../../../plugins/oidc/settings.ts'
import { loadConfig } from '../../load-config.ts'
import { guestHeaders } from '../auth/support.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../fixtures/certificate.ts'
import { CLIENT, createBrowser } from './support.ts'
import { BASE_URL, CALLBACK, startOidc } from './oidc-support.ts'

const { provider, CONFIGURED, test, app, introduce } = await startOidc(t)

interface Row { id: number, username: string, role: string, group: string | null, subject: string | null }

async function findUsers (where: string, ...values: unknown[]): Promise<Row[]> {
  const { rows } = await app.pg.query<Row>(`select u.id, username, role, g.name as group, oidc_subject as subject
    from users u left join permission_groups g on g.id = permission_group_id where ${where}`, values)
  return rows
}

async function listAudit (event: string): Promise<unknown[]> {
  const { rows } = await app.pg.query<{ username: string }>('select username from audit_events where event = $1 order by id', [event])
  return rows.map(({ username }) => username)
}

t.test('the first sign-in at the provider creates an account, later ones reuse it', async (t) => {
  const browser = createBrowser(test)
  const reply = await browser.signIn(provider, introduce('ann'))
  t.equal(reply.statusCode, 307, reply.body)
  t.equal(reply.headers.location, '/lib/')
  t.match(reply.cookies.find(({ name }) => name === 'svc_session'), { httpOnly: true, sameSite: 'Lax', path: '/lib/' })
  t.notOk(browser.cookies.has('svc_oidc'), 'the attempt is over')
  const me = (await browser.send('GET', '/lib/api/users/me')).json()
  t.match(me, { username: 'ann', email: 'ann@home.example', role: 'user', permission_group_id: null })

  const again = createBrowser(test)
  provider.people.set('ann', { ...provider.people.get('ann'), preferred_username: 'renamed', email: 'new@home.example' })
  await again.signIn(provider, 'ann')
  t.match((await again.send('GET', '/lib/api/users/me')).json(), { id: me.id, username: 'ann' })
  t.match(await listAudit('user.created'), ['ann'])
})

t.test('the authorization request has PKCE, state and nonce, whatever the request says', async (t) => {
  const evil = 'evil.example'
  const browser = createBrowser(test)
  const reply = await browser.send('GET', `/api/login/openid?redirect_uri=https://${evil}/&next=//${evil}`, {
    host: evil, 'x-forwarded-host': evil, 'x-forwarded-proto': 'http', forwarded: `host=${evil}`
  })
  t.equal(reply.statusCode, 302)
  const url = new URL(String(reply.headers.location))
  t.equal(url.origin, provider.issuer)
  t.notMatch(url.href, evil)
  const asked = Object.fromEntries(url.searchParams)
  t.match(asked, {
    response_type: 'code', client_id: CLIENT.id, redirect_uri: CALLBACK, scope: 'openid profile email', code_challenge_method: 'S256'
  })
  for (const name of ['state', 'nonce', 'code_challenge']) t.match(asked[name], /^[\w-]{43}$/, name)
  t.match(reply.cookies.find(({ name }) => name === 'svc_oidc'), { httpOnly: true, sameSite: 'Lax', path: '/lib/', maxAge: 600 })
  t.notMatch(browser.cookies.get('svc_oidc'), asked.state)
  t.equal(reply.headers['cache-control'], 'no-store')

  const { search } = await provider.visit(url.href, introduce('bea'))
  const back = await browser.send('GET', `/api/oauth/openid${search}&next=//${evil}&redirect=https://${evil}`, { host: evil })
  t.equal(back.headers.location, '/lib/')
})

t.test('the response to a former attempt leaves the present one of the browser usable', async (t) => {
  const browser = createBrowser(test)
  const former = await browser.visit(provider, introduce('cleo'))
  const present = await browser.visit(provider, 'cleo')
  t.match((await browser.send('GET', former)).json(), { detail: /another sign-in/ })
  t.equal((await browser.send('GET', present)).statusCode, 307)
  t.notOk(browser.cookies.has('svc_oidc'), 'the attempt is over')
  t.match((await browser.send('GET', '/lib/api/users/me')).json(), { username: 'cleo' })
})

t.test('a sign-in after a failed one asks the provider for its addresses again', async (t) => {
  const countDiscoveries = () => provider.requests.filter((line) => line.includes('/.well-known/')).length
  const browser = createBrowser(test)
  const back = await browser.visit(provider, introduce('dora'))
  const before = countDiscoveries()
  provider.isDown = true
  t.equal((await browser.send('GET', back)).statusCode, 503)
  provider.isDown = false
  t.equal((await browser.signIn(provider, 'dora')).statusCode, 307)
  t.equal(countDiscoveries(), before + 1)
  t.equal((await createBrowser(test).signIn(provider, 'dora')).statusCode, 307)
  t.equal(countDiscoveries(), before + 1, 'not after a sign-in that succeeded')
})

t.test('the scope for roles is requested if the provider lists one', async (t) => {
  const { settings } = readSettings(test.config)
  if (settings === null) throw new Error('not configured')
  const direct = createProvider(settings)
  t.teardown(() => direct.close())
  const attempt = createAttempts(app).begin()
  const read = async (claim: string) =>
    new URL(await toAuthorizationUrl(await direct.read(), { ...settings, claim_roles: claim }, attempt)).searchParams.get('scope')
  t.equal(await read('groups'), 'openid profile email groups')
  t.equal(await read('teams'), 'openid profile email')
})

t.test('a replayed or changed response, or one of another browser, is refused', async (t) => {
  const browser = createBrowser(test)
  const attempt = async () => {
    const address = await browser.visit(provider, introduce('cid'))
    return { address, cookie: `svc_oidc=${browser.cookies.get('svc_oidc')}` }
  }
  const finish = async ({ address, cookie }: { address: string, cookie: string }) => {
    const reply = await app.inject({ url: address, headers: { cookie } })
    return `${reply.statusCode} ${reply.cookies.some(({ name }) => name === 'svc_session')}`
  }
  const whole = await attempt()
  t.equal(await finish({ ...whole, cookie: '' }), '400 false', 'no cookie')
  t.equal(await finish({ ...whole, cookie: (await attempt()).cookie }), '400 false', "another attempt's cookie")
  t.equal(await finish({ ...whole, cookie: `${whole.cookie.slice(0, -4)}AAAA` }), '400 false', 'a changed cookie')
  t.equal(await finish({ ...whole, address: whole.address.replace('state=', 'state=x') }), '400 false', 'a changed state')
  t.equal(await finish({ ...whole, address: '/api/oauth/openid' }), '400 false', 'nothing at all')
  t.equal(await finish(whole), '307 true', 'the whole one is still good')
  t.equal(await finish(whole), '400 false', 'and no second time')
  t.equal((await Promise.all(Array(4).fill(await attempt()).map(finish))).filter((line) => line.startsWith('307')).length, 1)

  const other = await attempt()
  t.equal(await finish({ ...other, address: other.address.replace(/code=[^&]+/, 'code=made-up') }), '400 false', 'a made-up code')
  const more = await attempt()
  t.equal(await finish({ ...more, address: `${more.address}&code=two` }), '400 false', 'two codes')
  const mixed = await attempt()
  t.equal(await finish({ ...mixed, address: mixed.address.replace(/iss=[^&]+/, 'iss=https://evil.example') }), '400 false')
  const stray = await attempt()
  t.equal(await finish({ ...stray, address: `${stray.address}&id_token=x&response=y` }), '307 true', 'what is not asked for is not read')
})

t.test('a changed nonce or code challenge is detected', async (t) => {
  for (const name of ['nonce', 'code_challenge']) {
    const browser = createBrowser(test)
    const url = new URL(String((await browser.send('GET', '/api/login/openid')).headers.location))
    url.searchParams.set(name, 'A'.repeat(43))
    const { search } = await provider.visit(url.href, introduce('dan'))
    const reply = await browser.send('GET', `/api/oauth/openid${search}`)
    t.equal(reply.statusCode, 400, `${name}: ${reply.body}`)
    t.notOk(browser.cookies.has('svc_session'))
  }
})

t.test('a refusal of the provider is shown, but only its code', async (t) => {
  for (const [error, shown] of [['access_denied', /access_denied/], ['<script>', /did not sign you in; /]] as const) {
    const browser = createBrowser(test)
    const url = new URL(String((await browser.send('GET', '/api/login/openid')).headers.location))
    const query = new URLSearchParams({ error, state: url.searchParams.get('state') ?? '', iss: provider.issuer })
    const reply = await browser.send('GET', `/api/oauth/openid?${query.toString()}`)
    t.equal(reply.statusCode, 400)
    t.match(reply.json().detail, shown)
  }
})

t.test('a sign-in without a name or a verified e-mail address is refused', async (t) => {
  const cases = {
    mail: { email: undefined },
    unsure: { email_verified: false },
    silent: { email_verified: undefined },
    nameless: { preferred_username: undefined },
    injected: { email: 'a@b.example\r\nBcc: c@d.example' }
  }
  for (const [subject, claims] of Object.entries(cases)) {
    const reply = await createBrowser(test).signIn(provider, introduce(subject, claims))
    t.equal(reply.statusCode, 400, `${subject}: ${reply.body}`)
    t.match(reply.json().detail, /provider|^Email 'a@b/)
  }
  t.same(await findUsers('oidc_subject = any($1)', Object.keys(cases)), [])
})

t.test('a verified e-mail address links an account to that person for good', async (t) => {
  await app.users.create({ username: 'eve', password: 'a password', email: 'eve@home.example', role: 'user' })
  t.equal((await createBrowser(test).signIn(provider, introduce('eve-at-home', { email: 'EVE@home.example' }))).statusCode, 307)
  t.match(await findUsers("username = 'eve'"), [{ subject: 'eve-at-home' }])
  t.match(await listAudit('user.linked'), ['eve'])

  const other = await createBrowser(test).signIn(provider, introduce('impostor', { email: 'eve@home.example' }))
  t.equal(other.statusCode, 403, 'the address went to somebody else at the provider')
  t.match(await findUsers("username = 'eve'"), [{ subject: 'eve-at-home' }])

  await app.users.create({ username: 'trap', password: 'a password', email: 'chief@home.example', role: 'user' })
  const chief = await createBrowser(test).signIn(provider, introduce('chief', { realm_access: { roles: ['boss'] } }))
  t.equal(chief.statusCode, 403, 'an address that its owner chose does not make that owner an administrator')
  t.match(await findUsers("username = 'trap'"), [{ role: 'user', subject: null }])
})

t.test('only a confirmed e-mail address links an account to a person', async (t) => {
  const email = 'vic@home.example'
  const signIn = async () => await createBrowser(test).signIn(provider, introduce('vic', { email }))
  const squatter = await test.createUser('squatter')
  const [{ id } = { id: 0 }] = await findUsers("username = 'squatter'")
  const save = async (headers: object, payload: object) =>
    (await app.inject({ method: 'PUT', url: `/api/users/${id}`, headers: { ...headers }, payload })).statusCode
  const isConfirmed = async () =>
    (await app.pg.query<{ email_confirmed: boolean }>('select email_confirmed from users where id = $1', [id])).rows[0]?.email_confirmed

  t.equal(await save(test.admin, { email: 'squatter@home.example' }), 200)
  t.equal(await isConfirmed(), true, 'an administrator set it')
  t.equal(await save(squatter, { email: 'Squatter@home.example', ra_username: 'x' }), 200)
  t.equal(await isConfirmed(), true, 'its user sent it as it is')
  t.equal(await save(squatter, { email }), 200)
  t.equal(await isConfirmed(), false, 'its user changed it')

  const refused = await signIn()
  t.equal(refused.statusCode, 403)
  t.match(refused.json().detail, /'squatter' has your e-mail address.*administrator to save its address/)
  t.match(await findUsers("username = 'squatter'"), [{ subject: null }])

  t.equal(await save(test.admin, { email }), 200)
  t.equal((await signIn()).statusCode, 307, 'an administrator saved it once more')
  t.match(await findUsers("username = 'squatter'"), [{ subject: 'vic' }])
})

t.test('registering with an invite does not confirm the address', async (t) => {
  const { token } = (await app.inject({ method: 'POST', url: '/api/users/invite-link?role=user', headers: test.admin })).json()
  const account = { username: 'early', email: 'wanda@home.example', password: 'a password', token }
  t.equal((await app.inject({ method: 'POST', url: '/api/users/register', headers: await guestHeaders(app), payload: account })).statusCode, 201)
  t.equal((await createBrowser(test).signIn(provider, introduce('wanda'))).statusCode, 403)

  const made = { username: 'given', email: 'xenia@home.example', password: 'a password', role: 'user' }
  t.equal((await app.inject({ method: 'POST', url: '/api/users', headers: test.admin, payload: made })).statusCode, 201)
  t.equal((await createBrowser(test).signIn(provider, introduce('xenia'))).statusCode, 307, 'what an administrator made has')
})

t.test('an unverified address opens no account that has it, and is not stored', async (t) => {
  const { settings } = readSettings(test.config)
  if (settings === null) throw new Error('not configured')
  const claims = { sub: 'owl', email: 'owen@home.example', preferred_username: 'owen' }
  const identity = readIdentity(claims, provider.issuer, false, settings)
  await app.users.create({ username: 'owen', password: 'a password', email: 'owen@home.example', role: 'user' })
  const user = await createSignInAccounts(app, settings).find(app.db, identity, '127.0.0.1')
  t.match(user, { username: 'owen-2', email: null, oidc_subject: 'owl' })
})

t.test('without roles at the provider and registration, a sign-in changes no account', async (t) => {
  const { settings } = readSettings(test.config)
  if (settings === null) throw new Error('not configured')
  const closed = { ...settings, allow_registration: false, claim_roles: undefined }
  const claims = { sub: 'uma', email: 'uma@home.example', email_verified: true, preferred_username: 'uma' }
  const identity = readIdentity(claims, provider.issuer, false, closed)
  const accounts = createSignInAccounts(app, closed)
  await t.rejects(accounts.find(app.db, identity, '127.0.0.1'), { code: 'FORBIDDEN', message: /You have no account/ })
  await app.users.create({ username: 'uma', password: 'a password', email: 'u@home.example', role: 'admin' })
  const link = (issuer: string) =>
    app.pg.query("update users set oidc_subject = 'uma', oidc_issuer = $1 where username = 'uma'", [issuer])
  await link('https://former.example')
  await t.rejects(accounts.find(app.db, identity, '127.0.0.1'), { code: 'FORBIDDEN' }, 'another person of another provider')
  await link(provider.issuer)
  const user = await accounts.find(app.db, identity, '127.0.0.1')
  await applyRole(app, { db: app.db, ip: '127.0.0.1' }, user, identity.role)
  t.match(await findUsers("username = 'uma'"), [{ role: 'admin' }])
})

t.test('the provider decides the role at each sign-in', async (t) => {
  const roles = (...names: unknown[]) => ({ realm_access: { roles: names } })
  const signIn = async (subject: string, claims: object) =>
    (await createBrowser(test).signIn(provider, introduce(subject, claims))).statusCode
  t.equal(await signIn('finn', roles('boss')), 307)
  t.match(await findUsers("username = 'finn'"), [{ role: 'admin' }])
  t.equal(await signIn('finn', roles('guest')), 307)
  t.match(await findUsers("username = 'finn'"), [{ role: 'user' }])
  t.equal(await signIn('finn', roles('guest', 'boss')), 307)
  t.equal(await signIn('finn', { realm_access: undefined }), 307, 'no claim at all')
  t.match(await findUsers("username = 'finn'"), [{ role: 'user' }], 'gives a user')
  t.match(await listAudit('role.changed'), ['finn', 'finn', 'finn'])
  for (const strange of [roles('stranger'), roles(), roles('bos', 'bossy'), roles(7), { realm_access: { roles: 'xbossx' } }]) {
    t.equal(await signIn('finn', strange), 403, JSON.stringify(strange))
  }
  t.equal(await signIn('gus', { realm_access: { roles: 'keeper' } }), 307, 'one role as text')
  t.match(await findUsers("username = 'gus'"), [{ role: 'user', group: 'Editors' }])
})

t.test('a demoted administrator is notified at once, and the last one stays', async (t) => {
  await createBrowser(test).signIn(provider, introduce('hal', { realm_access: { roles: ['boss'] } }))
  introduce('hal')
  const seen: unknown[] = []
  const { publish, setAdmin } = app.sockets
  t.teardown(() => { Object.assign(app.sockets, { publish, setAdmin }) })
  Object.assign(app.sockets, {
    publish: (...call: unknown[]) => { seen.push(call) }, setAdmin: (...call: unknown[]) => { seen.push(call) }
  })
  const [hal] = await findUsers("username = 'hal'")
  await createBrowser(test).signIn(provider, 'hal')
  t.match(seen.slice(0, 2), [[null, 'permissions:changed', { user_id: hal?.id }], [hal?.id, false]], 'before the notification')

  await app.pg.query("update users set role = 'user' where username <> 'hal'")
  await app.pg.query("update users set role = 'admin' where username = 'hal'")
  t.equal((await createBrowser(test).signIn(provider, 'hal')).statusCode, 307)
  t.match(await findUsers("username = 'hal'"), [{ role: 'admin' }])
  await app.pg.query("update users set role = 'admin' where username = 'admin'")
})

t.test('a disabled account cannot sign in', async (t) => {
  await createBrowser(test).signIn(provider, introduce('ida'))
  await app.pg.query("update users set enabled = false where username = 'ida'")
  const browser = createBrowser(test)
  const reply = await browser.signIn(provider, introduce('ida', { realm_access: { roles: ['boss'] } }))
  t.equal(reply.statusCode, 401, reply.body)
  t.notOk(browser.cookies.has('svc_session'))
  t.match(await findUsers("username = 'ida'"), [{ role: 'user' }], 'and not changed')
})

t.test('a taken or invalid name becomes a free one', async (t) => {
  for (const subject of ['one', 'two']) {
    await createBrowser(test).signIn(provider, introduce(subject, { preferred_username: 'Admin' }))
  }
  t.match((await findUsers("oidc_subject in ('one', 'two') order by username")).map(({ username }) => username), ['admin-2', 'admin-3'])
  const names = { 'José.Núñez@x.example': 'jose_nunez_x_example', jo: 'user_jo', ゲーム: 'user', '_-x-_': '-x-' }
  for (const [name, cleaned] of Object.entries(names)) t.equal(cleanUsername(name), cleaned)
  t.match(cleanUsername('x'.repeat(500)), /^x{240}$/)
})

t.test('two concurrent first sign-ins of one person create one account', async (t) => {
  introduce('kim')
  const replies = await Promise.all([createBrowser(test), createBrowser(test)].map((browser) => browser.signIn(provider, 'kim')))
  t.same(replies.map(({ statusCode }) => statusCode), [307, 307])
  t.equal((await findUsers("oidc_subject = 'kim'")).length, 1)
})

t.test("a sign-in replaces the browser's session; signing out offers the provider's too", async (t) => {
  const browser = createBrowser(test)
  await browser.signIn(provider, introduce('lou'))
  const former = browser.cookies.get('svc_session')
  await browser.signIn(provider, 'lou')
  t.equal((await app.inject({ url: '/api/users/me', headers: { cookie: `svc_session=${former}` } })).statusCode, 401)
  const { rows: [session] } = await app.pg.query<{ id_token: string }>('select id_token from sessions order by id desc limit 1')
  t.notMatch(session?.id_token, /^ey/, 'sealed')

  const reply = await browser.send('POST', '/api/logout')
  const url = new URL(reply.json().oidc_logout_url)
  t.equal(`${url.origin}${url.pathname}`, `${provider.issuer}/session/end`)
  t.match(url.searchParams.get('id_token_hint'), /^ey[\w-]+\.[\w-]+\.[\w-]+$/)
  t.equal((await browser.send('GET', '/api/users/me')).statusCode, 401)

  const password = await app.inject({ method: 'POST', url: '/api/login', headers: test.admin })
  const cookies = Object.fromEntries(password.cookies.map(({ name, value }) => [name, value]))
  const plain = await app.inject({
    method: 'POST', url: '/api/logout', headers: {
      cookie: `svc_session=${cookies.svc_session}; svc_csrftoken=${cookies.svc_csrftoken}`, 'x-csrftoken': cookies.svc_csrftoken
    }
  })
  t.equal(plain.body, 'null', 'a session by password ends here alone')
})

t.test('login pages learn that OpenID Connect is on', async (t) => {
  t.same((await app.inject({ url: '/api/heartbeat' })).json().OIDC,
    { ENABLED: true, AUTOLOGIN: false, PROVIDER: 'Home', RP_INITIATED_LOGOUT: true })
})

t.test('without a full configuration its routes are missing, and the log says why', async (t) => {
  await t.rejects(OIDC_OFF.begin(), { statusCode: 404, message: /OIDC_ENABLED/ })
  const read = (env: Record<string, string>) => readSettings(loadConfig({ SVC_DATA_DIR: t.testdir(), ...env }).config)
  t.match(read({ OIDC_ENABLED: 'true', OIDC_SERVER_APPLICATION_URL: 'http://sso.example.org' }).problems,
    [/OIDC_CLIENT_ID/, /http:\/\/sso\.example\.org.*https/, /OIDC_REDIRECT_URI/])
  t.match(read({ OIDC_ENABLED: 'true', SVC_BASE_URL: BASE_URL, OIDC_CLIENT_ID: 'x' }).problems, [/OIDC_SERVER_APPLICATION_URL/])
  t.same(read({}), { settings: null, problems: [] })
  const { settings, problems } = read({
    ...CONFIGURED,
    OIDC_REDIRECT_URI: 'https://other.example/back',
    OIDC_SERVER_APPLICATION_URL: 'http://keycloak:8080/realms/home/'
  })
  t.same(problems, [])
  t.equal(settings?.redirect_uri.href, 'https://other.example/back')
  t.equal(settings?.metadata_url.href, 'http://keycloak:8080/realms/home/.well-known/openid-configuration')
})

t.test("the provider's certificate may come from a private CA", async (t) => {
  const folder = t.testdir({ 'ca.pem': CERTIFICATE })
  const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer: 'https://127.0.0.1' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const read = async (env: Record<string, string>) => {
    const { settings } = readSettings(loadConfig({
      SVC_DATA_DIR: folder, ...CONFIGURED, OIDC_SERVER_APPLICATION_URL: address, ...env
    }).config)
    if (settings === null) throw new Error('not configured')
    const secure = createProvider(settings)
    t.teardown(() => secure.close())
    return (await secure.read()).serverMetadata().issuer
  }
  await t.rejects(read({}), 'unknown')
  await t.rejects(read({ OIDC_TLS_CACERTFILE: join(folder, 'none.pem') }), /OIDC_TLS_CACERTFILE/)
  t.equal(await read({ OIDC_TLS_CACERTFILE: join(folder, 'ca.pem') }), 'https://127.0.0.1')
})
