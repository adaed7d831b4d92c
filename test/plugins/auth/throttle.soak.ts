import { buildTestApp } from '../../support.ts'
import { basicHeaders } from './support.ts'
import { signInKeys } from '../../../plugins/auth/throttle/limits.ts'
import { until } from '../../until.ts'
import { hash as hashBcrypt } from 'bcryptjs'
import t from 'tap'
import { verifyPassword } from '../../../plugins/auth/password-hash.ts'

t.test('a check takes as long for an unknown account while imported hashes remain', async (t) => {
  const stored = [await hashBcrypt('a password', 9), null]
  const shortest = [Infinity, Infinity]
  // In turns, so that other programs delay both.
  for (let round = 0; round < 6; round++) {
    for (const [index, one] of stored.entries()) {
      const startedAt = performance.now()
      await verifyPassword(one, 'wrong', [9])
      shortest[index] = Math.min(shortest[index] ?? Infinity, performance.now() - startedAt)
    }
  }
  const [known = 0, unknown = 0] = shortest
  t.ok(known / unknown > 1 / 3 && known / unknown < 3, `${known} ms and ${unknown} ms`)
})

t.test('an imported bcrypt hash verifies the first 72 bytes of the password', async (t) => {
  const long = 'ä'.repeat(36)
  for (const version of ['2a', '2b', '2y'] as const) {
    const stored = (await hashBcrypt(long, 4)).replace(/^\$2.\$/, `$${version}$`)
    t.equal(await verifyPassword(stored, `${long} and more`, [4]), true, version)
    t.equal(await verifyPassword(stored, 'ä'.repeat(35), [4]), false)
    t.equal(await verifyPassword(stored, `${long}\0`, [4]), false)
  }
})

t.test('guessing passwords', async (t) => {
  const lines: Record<string, unknown>[] = []
  const { app, createUser } = await buildTestApp(t, {
    env: { SVC_TRUSTED_PROXIES: '10.9.9.9' }, log: (line) => { lines.push(line) }
  })
  for (const name of ['alice', 'bob', 'carol', 'dave', 'mallory']) await createUser(name)
  const db = app.db
  t.beforeEach(async () => {
    await db.query('delete from throttles')
    lines.length = 0
  })

  const login = (username: string, password: string, remoteAddress: string) =>
    app.inject({ method: 'POST', url: '/api/login', remoteAddress, headers: basicHeaders(username, password) })
  const status = async (...given: Parameters<typeof login>) => (await login(...given)).statusCode
  const failTimes = async (times: number, username: string, address: string) => {
    for (let i = 0; i < times; i++) t.equal(await status(username, `wrong ${i}`, address), 401, `${username} ${i}`)
  }
  /** Adds failed tries to the counts of a user and address. */
  async function addFailures (times: number, username: string, address: string): Promise<void> {
    for (const key of Object.values(signInKeys(username, address))) {
      await db.query(`insert into throttles as t (key, count) values ($1, $2)
        on conflict (key) do update set count = t.count + excluded.count`, [key, times])
    }
  }
  const countOf = (message: string) => lines.filter(({ msg }) => msg === message).length
  const endWaits = () => db.query("update throttles set blocked_until = now() - interval '1 second' where blocked_until is not null")

  await t.test('of a hundred concurrent wrong sign-ins ten are checked, the others must wait', async (t) => {
    const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => login('alice', `wrong ${i}`, '192.0.2.1')))
    const checked = replies.filter((reply) => reply.statusCode === 401)
    t.ok(checked.length <= 15, `${checked.length} were checked`)
    t.equal(replies.filter((reply) => reply.statusCode === 429).length, 100 - checked.length)
    const refused = await login('alice', 'a password', '192.0.2.1')
    t.equal(refused.statusCode, 429, 'also the right one, from there')
    t.ok(Number(refused.headers['retry-after']) > 0 && Number(refused.headers['retry-after']) <= 30)
    t.equal(await status('alice', 'a password', '192.0.2.2'), 200, 'but not from elsewhere')
    t.equal(countOf('sign-in failed'), checked.length)
    t.match(lines.find(({ msg }) => msg === 'sign-in failed'), { username: 'alice', address: '192.0.2.1' })
    const events = (await db.query<{ event: string, count: number }>(
      "select event, count(*)::int as count from audit_events where event like 'sign_in.%' group by event")).rows
    t.equal(events.find(({ event }) => event === 'sign_in.failed')?.count, checked.length)
    t.equal(events.find(({ event }) => event === 'sign_in.throttled')?.count, 1, 'once for each wait')
  })

  await t.test('the wait doubles up to a quarter of an hour, and the count ends after an hour', async (t) => {
    await addFailures(9, 'alice', '192.0.2.1')
    await failTimes(1, 'alice', '192.0.2.1')
    const waits: number[] = []
    for (let i = 0; i < 7; i++) {
      waits.push(Number((await login('alice', 'a password', '192.0.2.1')).headers['retry-after']))
      await endWaits()
      await failTimes(1, 'alice', '192.0.2.1')
    }
    for (const [round, seconds] of [30, 60, 120, 240, 480, 900, 900].entries()) {
      const left = waits[round] ?? 0
      // Part of the time has passed by the time of the request.
      t.ok(left > seconds / 2 && left <= seconds, `${left} of ${seconds} s`)
    }
    await db.query("update throttles set updated_at = now() - interval '61 minutes', blocked_until = null")
    await failTimes(2, 'alice', '192.0.2.1')
    t.equal(await status('alice', 'a password', '192.0.2.1'), 200)
  })

  await t.test('an IPv6 address counts as its network', async (t) => {
    await addFailures(8, 'alice', '2001:db8:1:2::1')
    for (let i = 2; i < 4; i++) t.equal(await status('alice', 'wrong', `2001:db8:1:2::${i}`), 401)
    t.equal(await status('alice', 'a password', '2001:db8:1:2:ffff::1'), 429)
    t.equal(await status('alice', 'a password', '2001:db8:1:3::1'), 200)
  })

  await t.test("a success forgives that account's typing errors, not tries on other accounts", async (t) => {
    for (let i = 0; i < 2; i++) {
      await addFailures(8, 'alice', '192.0.2.1')
      await failTimes(1, 'alice', '192.0.2.1')
      t.equal(await status('alice', 'a password', '192.0.2.1'), 200)
    }
    await addFailures(8, 'bob', '192.0.2.1')
    await failTimes(1, 'bob', '192.0.2.1')
    t.equal(await status('mallory', 'a password', '192.0.2.1'), 200)
    await failTimes(1, 'carol', '192.0.2.1')
    t.equal(await status('dave', 'a password', '192.0.2.1'), 429)
  })

  await t.test('many concurrent right sign-ins from one address do not count as guessing', async (t) => {
    const names = ['alice', 'bob', 'carol', 'dave', 'mallory']
    const replies = await Promise.all([...names, ...names, ...names].map((name) => status(name, 'a password', '192.0.2.1')))
    t.same(new Set(replies), new Set([200]))
  })

  await t.test('an attacked account gives each address fewer tries, and lets its owner in', async (t) => {
    for (let i = 0; i < 10; i++) await addFailures(3, 'alice', `198.51.100.${i}`)
    await failTimes(3, 'alice', '192.0.2.1')
    t.equal(await status('alice', 'a password', '192.0.2.1'), 429)
    t.equal(await status('bob', 'a password', '192.0.2.1'), 200, 'others from there are not concerned')
    t.equal(await status('alice', 'a password', '192.0.2.2'), 200)
  })

  await t.test('concurrent calls with the same Basic credentials are checked and counted once', async (t) => {
    const me = (password: string, remoteAddress = '192.0.2.1') =>
      app.inject({ url: '/api/users/me', remoteAddress, headers: basicHeaders('alice', password) })
    const open = async (password: string) => {
      const replies = await Promise.all(Array.from({ length: 20 }, () => me(password)))
      return replies.map((reply) => reply.statusCode)
    }
    t.same(new Set(await open('a password')), new Set([200]))
    t.same(new Set(await open('an old password')), new Set([401]))
    t.equal(countOf('sign-in failed'), 1)
    await addFailures(8, 'alice', '192.0.2.1')
    t.equal((await me('another old password')).statusCode, 401)
    const refused = await me('a password')
    t.equal(refused.statusCode, 429, 'what was right a moment ago tells nothing either')
    t.ok(Number(refused.headers['retry-after']) > 0)
    t.equal((await me('a password', '192.0.2.2')).statusCode, 200)
    const anyway = await app.inject({ url: '/api/heartbeat', remoteAddress: '192.0.2.1', headers: basicHeaders('alice', 'x') })
    t.equal(anyway.statusCode, 200, 'an open route answers all the same')
  })

  await t.test('the form and the token endpoint count tries too, for any name', async (t) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const guest = await app.inject({ url: '/api/heartbeat' })
    const csrf = guest.cookies[0]?.value ?? ''
    const form = (url: string, username: string) => app.inject({
      method: 'POST',
      url,
      remoteAddress: '192.0.2.1',
      headers: { ...headers, cookie: `svc_csrftoken=${csrf}`, 'x-csrftoken': csrf },
      payload: new URLSearchParams({ username, password: 'wrong' }).toString()
    })
    for (const name of ['alice', 'a b', 'b%00', 'x'.repeat(5000), "' or 1=1 --"]) {
      t.equal((await form('/api/auth/login', name)).statusCode, 401, name.slice(0, 10))
      t.equal((await form('/api/token', name)).statusCode, 401, name.slice(0, 10))
    }
    t.equal((await form('/api/auth/login', 'alice')).statusCode, 429)
    t.equal((await form('/api/token', 'alice')).statusCode, 429)
  })

  await t.test('an untrusted proxy is logged once, and its header has no effect', async (t) => {
    const call = (remoteAddress: string, forwarded?: string) => app.inject({
      url: '/api/heartbeat', remoteAddress, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    })
    const isWarning = ({ msg }: Record<string, unknown>) => String(msg).includes('SVC_TRUSTED_PROXIES')
    await call('192.0.2.9')
    await call('10.9.9.9', '203.0.113.1')
    t.notOk(lines.some(isWarning))
    await call('192.0.2.9', '203.0.113.1')
    await call('192.0.2.9', '203.0.113.1')
    await until(() => lines.some(isWarning), 'the warning is in the log')
    t.match(lines.filter(isWarning), [{ address: '192.0.2.9' }])
    t.equal(lines.filter(isWarning).length, 1)
    const forged = { method: 'POST', url: '/api/login', remoteAddress: '192.0.2.9' } as const
    await app.inject({ ...forged, headers: { ...basicHeaders('alice', 'wrong'), 'x-forwarded-for': '203.0.113.7' } })
    t.match(lines.find(({ msg }) => msg === 'sign-in failed'), { address: '192.0.2.9' })
  })
})
