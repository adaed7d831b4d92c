import { io } from 'socket.io-client'
import t from 'tap'
import { features } from '../../../plugins/index.ts'
import { setPassword } from '../../../plugins/users/cli.ts'
import { createJwts } from '../../../plugins/auth/jwt.ts'
import { type TestApp, buildTestApp } from '../../support.ts'
import { basicHeaders, guestHeaders, signIn } from './support.ts'
import { linkOf, startMail } from '../mail/support.ts'
import { until } from '../../until.ts'

type Line = Record<string, unknown>
const tokenOf = (link: unknown) => /\?token=([\w.-]+)$/.exec(String(link))?.[1] ?? ''

interface Extra { host?: string, remoteAddress?: string }

async function post ({ app }: TestApp, url: string, payload: object, extra: Extra = {}) {
  const { host, ...rest } = extra
  const headers = { ...await guestHeaders(app), ...(host === undefined ? {} : { host }) }
  return await app.inject({ method: 'POST', url, payload, headers, ...rest })
}

t.test('a forgotten password', async (t) => {
  const lines: Line[] = []
  const { mails, server, env } = await startMail()
  t.teardown(async () => { await new Promise<void>((resolve) => { server.close(() => { resolve() }) }) })
  const test = await buildTestApp(t, { log: (line) => { lines.push(line) }, env })
  const { app, databaseUrl } = test
  for (const username of ['alice', 'bob']) {
    await app.users.create({ username, password: 'a password', email: `${username}@example.org`, role: 'user' })
  }
  const db = app.db
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  t.beforeEach(async () => {
    await db.query('delete from throttles')
    lines.length = 0
    mails.length = 0
  })

  const requested = async () => ((await db.query("select 1 from audit_events where event = 'password.reset_requested'")).rows).length
  const findLink = () => mails.map(linkOf).find((link) => link !== undefined)
  async function ask (username: string): Promise<string> {
    mails.length = 0
    const reply = await post(test, '/api/forgot-password', { username })
    t.equal(reply.statusCode, 200, reply.body)
    await until(() => findLink() !== undefined, 'the link is in the mail')
    return tokenOf(findLink())
  }
  const reset = async (token: string, password = 'a new password') =>
    (await post(test, '/api/reset-password', { token, new_password: password })).statusCode
  const status = async (headers: Record<string, string>) => (await app.inject({ url: '/api/users/me', headers })).statusCode

  await t.test('gets the same answer for an unknown user, and only the user gets the link', async (t) => {
    for (const username of ['nobody', 'x'.repeat(5000)]) {
      const unknown = await post(test, '/api/forgot-password', { username })
      t.equal(`${unknown.statusCode} ${unknown.body}`, '200 null')
    }
    await until(async () => await requested() === 2, 'what the test looks for is there')
    t.equal(findLink(), undefined)
    const known = await post(test, '/api/forgot-password', { username: 'ALICE' }, { host: 'evil.example' })
    t.equal(`${known.statusCode} ${known.body}`, '200 null')
    await until(() => findLink() !== undefined, 'the link is in the mail')
    t.notMatch(JSON.stringify(lines), 'reset-password?token', 'nobody who reads the log has the account')
    const rows = JSON.stringify((await db.query("select * from one_time_tokens where purpose = 'reset'")).rows)
    t.notMatch(rows, tokenOf(findLink()).split('.')[1], 'only a hash is kept')
  })

  await t.test('is mailed to the user also if a keyboard added a space to the name', async (t) => {
    t.match(await ask('Alice '), /./)
  })

  await t.test('confirms only the address to which the link was mailed', async (t) => {
    const isConfirmed = async () => ((await db.query<{ email_confirmed: boolean }>(
      "select email_confirmed from users where username = 'alice'")).rows)[0]?.email_confirmed
    const changeEmail = (email: string) =>
      db.query("update users set email = $1, email_confirmed = false where username = 'alice'", [email])
    await changeEmail('mine@example.org')
    const mailed = await ask('alice')
    await changeEmail('another-persons@example.org')
    t.equal(await reset(mailed, 'a password'), 200)
    t.equal(await isConfirmed(), false, 'the link says nothing of the address that the account has now')

    mails.length = 0
    t.equal(await reset(await ask('alice'), 'a password'), 200)
    t.equal(await isConfirmed(), true)
  })

  await t.test('is replaced once, and signs the user out everywhere', async (t) => {
    const session = await signIn(app, 'alice')
    const client = io(address, { path: '/svc/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: session })
    t.teardown(() => { client.disconnect() })
    await until(() => {
      // The notification of the reset before may be late, and disconnect this socket too.
      if (!client.active) client.connect()
      return [...app.sockets.main.sockets.adapter.rooms.keys()].some((room) => room.startsWith('user:'))
    }, 'a socket of the user')
    const form = new URLSearchParams({ username: 'alice', password: 'a password', scope: 'me.read' }).toString()
    const oauth = (await app.inject({
      method: 'POST', url: '/api/token', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: form
    })).json<{ access_token: string }>()
    const bearer = { authorization: `Bearer ${oauth.access_token}` }
    t.same([await status(session), await status(bearer), await status(basicHeaders('alice'))], [200, 200, 200])

    const [first, second] = [await ask('alice'), (mails.length = 0, await ask('alice'))]
    t.equal(await reset(first, 'short'), 400, 'the rule for passwords holds')
    const answers = await Promise.all([reset(first), reset(first), reset(first)])
    t.same(answers.sort(), [200, 400, 400])
    t.equal(await reset(second), 400, 'the other links went with it')
    await until(() => client.disconnected, 'what the test looks for is there')
    t.same([await status(session), await status(bearer), await status(basicHeaders('alice'))], [401, 401, 401])
    t.equal(await status(basicHeaders('alice', 'a new password')), 200)
    t.match((await db.query("select username from audit_events where event = 'password.reset'")).rows,
      Array.from({ length: 3 }, () => ({ username: 'alice' })), 'two earlier resets and this one')
  })

  await t.test('is reset only by a valid link', async (t) => {
    const jwts = createJwts(app.secrets)
    const old = await ask('bob')
    await db.query("update one_time_tokens set expires_at = now() - interval '1 second'")
    const bad = ['', 'x.y.z', old, `${old}x`, await jwts.sign('reset', { sub: 'bob', jti: 'made up' }, 600),
      await jwts.sign('access', { sub: 'bob', jti: 'x' }, 600), await jwts.sign('reset', { sub: 'bob' }, 600)]
    for (const token of bad) t.equal(await reset(token), 400, token)
    await db.query('delete from throttles')
    lines.length = 0
    const orphan = await ask('bob')
    await db.query("delete from users where username = 'bob'")
    t.equal(await reset(orphan), 404)
  })

  await t.test('cannot be requested, nor links tried, without limit', async (t) => {
    await app.users.create({ username: 'carol', password: 'a password', email: 'carol@example.org', role: 'user' })
    const asks = async (username: string, remoteAddress: string) =>
      (await post(test, '/api/forgot-password', { username }, { remoteAddress })).statusCode
    for (let i = 0; i < 5; i++) t.equal(await asks('carol', '192.0.2.1'), 200)
    t.equal(await asks('carol', '192.0.2.1'), 429, 'for one account')
    t.equal(await asks('nobody', '192.0.2.1'), 200, 'but for others')
    const links = async () => ((await db.query(
      "select 1 from one_time_tokens where purpose = 'reset' and user_id = (select id from users where username = 'carol')")).rows).length
    await until(async () => await links() === 5, 'what the test looks for is there')
    t.equal(await asks('carol', '192.0.2.2'), 200, 'and from elsewhere, so that nobody keeps her from it')
    await until(() => lines.some(({ msg }) => /has enough valid reset links/.test(String(msg))), 'what the test looks for is there')
    t.equal(await links(), 5, 'while the links she has are good')
    for (let i = 0; i < 10; i++) t.equal(await asks(`nobody-${i}`, '192.0.2.20'), 200)
    t.equal(await asks('nobody', '192.0.2.20'), 429, 'from one address')
    for (let i = 0; i < 10; i++) t.equal(await reset('x.y.z'), 400)
    t.equal(await reset('x.y.z'), 429)
  })

  await t.test('is reset on a page that needs only the link', async (t) => {
    const page = await app.inject({ url: '/reset-password?token=x' })
    t.equal(page.statusCode, 200)
    t.ok(page.cookies.some(({ name }) => name === 'svc_csrftoken'), 'it brings the CSRF value it sends')
    t.notMatch(page.body, /<script>|<style| on\w+=| style=/, 'nothing that the content policy stops')
    for (const file of ['/reset-password.js', '/reset-password.css']) {
      t.match(page.body, file)
      t.equal((await app.inject({ url: file })).statusCode, 200)
    }
    t.notOk(Object.keys((await app.inject({ url: '/openapi.json' })).json<{ paths: object }>().paths).some((path) => path.startsWith('/reset')))
  })

  await t.test('is set by the operator from the command line', async (t) => {
    const session = await signIn(app, 'alice', { password: 'a new password' })
    const env = { SVC_DATABASE_URL: databaseUrl, SVC_DATA_DIR: t.testdir({}), SVC_NEW_PASSWORD: 'from the shell' }
    Object.assign(process.env, env)
    t.teardown(() => { for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name) })
    await setPassword(features, 'ALICE', {})
    t.equal(await status(session), 401)
    t.equal(await status(basicHeaders('alice', 'from the shell')), 200)
    await t.rejects(setPassword(features, 'nobody', {}), { message: /There is no user 'nobody'/ })
    process.env.SVC_NEW_PASSWORD = 'seven77'
    await t.rejects(setPassword(features, 'alice', {}), { message: /8 to 255/ })
  })
})

t.test('V12: with mail and a known server address the link is mailed and not logged', async (t) => {
  const { mails, server, env } = await startMail()
  const lines: Line[] = []
  const test = await buildTestApp(t, {
    log: (line) => { lines.push(line) },
    env
  })
  t.match((await test.app.inject({ url: '/api/heartbeat' })).json(), { NOTIFICATIONS: { EMAIL_ENABLED: true, EMAILS_RESET_LINKS: true } })
  await test.app.users.create({ username: 'alice', password: 'a password', email: 'alice@example.org', role: 'user' })
  await test.createUser('bob')
  const ask = async (username: string) => {
    t.equal((await post(test, '/api/forgot-password', { username }, { host: 'evil.example' })).statusCode, 200)
  }
  await ask('alice')
  await until(() => mails.length === 1, 'what the test looks for is there')
  const mail = mails[0] ?? ''
  t.match(mail, /^To: alice@example\.org\r?$/m)
  const link = linkOf(mail)
  t.notMatch(JSON.stringify(lines), 'reset-password')
  t.equal((await post(test, '/api/reset-password', { token: tokenOf(link), new_password: 'a new password' })).statusCode, 200)

  await ask('bob')
  await until(() => lines.some(({ username, msg }) => username === 'bob' && /svc user password/.test(String(msg))), 'what the test looks for is there')
  t.equal(mails.length, 1, 'one without an address is told to whoever runs the server')
  await new Promise<void>((resolve) => { server.close(() => { resolve() }) })
  lines.length = 0
  await ask('alice')
  await until(() => lines.some(({ username, msg }) => username === 'alice' && msg === 'the reset link could not be mailed yet'), 'what the test looks for is there')
  t.notMatch(JSON.stringify(lines), 'reset-password?token', 'nor does one that the mail server did not take get into the log')
})

t.test('a link is mailed later if the mail server refuses it for now', async (t) => {
  const { mails, refusal, server, env } = await startMail()
  t.teardown(async () => { await new Promise<void>((resolve) => { server.close(() => { resolve() }) }) })
  const lines: Line[] = []
  const test = await buildTestApp(t, { worker: true, log: (line) => { lines.push(line) }, env })
  const { app } = test
  await app.users.create({ username: 'alice', password: 'a password', email: 'alice@example.org', role: 'user' })
  const findJob = async () => (await app.db.query<{ data: object, seconds: number }>(`select data,
    round(extract(epoch from start_after - created_on))::int as seconds from pgboss.job where name = 'reset-links' and state = 'created'`)).rows[0]
  const ask = async () => { t.equal((await post(test, '/api/forgot-password', { username: 'alice' })).statusCode, 200) }

  refusal.status = 451
  await ask()
  const job = await until(findJob, 'another try waits')
  t.match(job, { seconds: 60, data: { tries: 1 } })
  t.same(Object.keys(job?.data ?? {}).filter((name) => !name.startsWith('$')).sort(), ['requested_at', 'tries', 'user_id'], 'nothing of a link is stored')
  t.same((await app.db.query('select from one_time_tokens')).rowCount, 0, 'the link that did not arrive is void')

  refusal.status = null
  await app.jobs.send('reset-links', job?.data ?? {})
  await until(() => mails.length === 1, 'the mail arrives')
  t.equal((await post(test, '/api/reset-password', { token: tokenOf(linkOf(mails[0] ?? '')), new_password: 'a new password' })).statusCode, 200)

  const late = await app.jobs.send('reset-links', { ...job?.data, requested_at: Date.now() - 2 * 60 * 60_000 })
  await until(async () => (await app.db.query("select from pgboss.job where id = $1 and state = 'completed'", [late])).rowCount === 1, 'its end')
  await app.db.query("delete from pgboss.job where name = 'reset-links' and state = 'created' and start_after > now()")
  refusal.status = 550
  await ask()
  await until(() => lines.some(({ msg }) => msg === 'the reset link could not be mailed'), 'a refusal for good')
  t.equal(await findJob(), undefined, 'is final')
  t.equal(mails.length, 1, 'and a request of two hours ago is forgotten')
})
