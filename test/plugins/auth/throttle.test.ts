import t from 'tap'
import { isVerifiable, verifyPassword } from '../../../plugins/auth/password-hash.ts'
import { signInKeys } from '../../../plugins/auth/throttle/limits.ts'
import { type Limit, createThrottle } from '../../../plugins/auth/throttle-rows.ts'
import { buildTestApp } from '../../support.ts'
import { basicHeaders } from './support.ts'

const lines: Record<string, unknown>[] = []
const { app, admin, createUser } = await buildTestApp(t, {
  env: { SVC_TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.1' }, log: (line) => { lines.push(line) }
})
const throttle = createThrottle(app.db)
t.beforeEach(() => app.db.query('delete from throttles'))

const LIMIT: Limit = { key: 'a', freeAttempts: 2, forgetSeconds: 60, waitSeconds: 30, waitMaxSeconds: 100 }

async function addRow (key: string, columns: { count: number, updated?: string, blocked?: string }): Promise<void> {
  await app.db.query(`insert into throttles (key, count, updated_at, blocked_until) values ($1, $2, now() + $3::interval, now() + $4::interval)
    on conflict (key) do update set count = excluded.count, updated_at = excluded.updated_at, blocked_until = excluded.blocked_until`,
  [key, columns.count, columns.updated ?? '0', columns.blocked ?? null])
}

/** Returns the counts by key, with the rounded seconds of their waits. */
async function readRows (): Promise<Record<string, [count: number, wait: number | null]>> {
  const { rows } = await app.db.query<{ key: string, count: number, wait: number | null }>(
    'select key, count, round(extract(epoch from blocked_until - now()))::int as wait from throttles')
  return Object.fromEntries(rows.map(({ key, count, wait }) => [key, [count, wait]]))
}

t.test('the password of an unknown account is checked against a dummy hash', async (t) => {
  t.equal(await verifyPassword(null, 'no account has this password'), false)
})

t.test('hashes that take too long to verify, or of other kinds, are not imported', async (t) => {
  const end = 'a'.repeat(53)
  t.same([`$2b$12$${end}`, `$2y$04$${end}`, `$2b$31$${end}`, `$2b$03$${end}`, `$1$${end}`, '', end].map(isVerifiable),
    [true, true, false, false, false, false, false])
  const [salt, key] = ['c2FsdHNhbHRzYWx0', 'A'.repeat(43)]
  t.same([`$argon2id$v=19$m=65536,t=3,p=4$${salt}$${key}`, `$argon2id$v=19$m=4194304,t=3,p=4$${salt}$${key}`].map(isVerifiable), [true, false])
})

t.test('an address that guesses passwords waits; the owner at another one does not', async (t) => {
  await createUser('alice')
  await createUser('bob')
  const login = (username: string, password: string, remoteAddress: string) =>
    app.inject({ method: 'POST', url: '/api/login', remoteAddress, headers: basicHeaders(username, password) })
  const { address } = signInKeys('alice', '198.51.100.1')
  await addRow(address, { count: 9 })
  t.equal((await login('alice', 'wrong', '198.51.100.1')).statusCode, 401)
  for (const name of ['alice', 'bob']) {
    t.match(await login(name, 'a password', '198.51.100.1'), { statusCode: 429, headers: { 'retry-after': /^(29|30)$/ } }, name)
  }
  t.equal((await login('alice', 'a password', '198.51.100.2')).statusCode, 200)
})

t.test('the wait after the free tries doubles up to its maximum', async (t) => {
  const waits: number[] = []
  for (let tries = 0; tries < 5; tries++) waits.push(await throttle.countFailure([LIMIT]))
  t.same(waits, [0, 30, 60, 100, 100])
  t.equal(await throttle.countFailure([{ ...LIMIT, key: 'b' }, LIMIT]), 100, 'of several limits the longest wait counts')
  t.match(await readRows(), { a: [6, 100], b: [1, null] })
})

t.test('tries that come at once are all counted, and none is counted during a wait', async (t) => {
  const keys = [LIMIT, { ...LIMIT, key: 'b', freeAttempts: 9 }]
  const tries = await Promise.allSettled(Array.from({ length: 8 }, (_, index) =>
    throttle.countAttempt(index % 2 === 0 ? keys : keys.toReversed())))
  const refused = tries.flatMap((one) => one.status === 'rejected' ? [one.reason as unknown] : [])
  t.equal(refused.length, 6)
  for (const err of refused) t.match(err, { code: 'TOO_MANY_REQUESTS', message: /^Too many attempts; try again in 3[01] s$/ })
  t.match(await readRows(), { a: [2, 30], b: [2, null] })
})

t.test('a count ends after a time without tries', async (t) => {
  await addRow('a', { count: 5, updated: '-59 seconds', blocked: '-1 second' })
  t.equal(await throttle.countFailure([LIMIT]), 100)
  await addRow('a', { count: 5, updated: '-61 seconds', blocked: '-1 second' })
  t.equal(await throttle.countFailure([LIMIT]), 0)
  t.match(await readRows(), { a: [1, null] })
  await addRow('day', { count: 1, updated: '-25 hours' })
  await addRow('hours', { count: 1, updated: '-23 hours' })
  await throttle.deleteOld()
  t.same(Object.keys(await readRows()).sort(), ['a', 'hours'])
})

t.test('a quota counts uses until the end of its period, which may restart', async (t) => {
  const quota = { key: 'q', max: 2, seconds: 60 }
  await throttle.countUse(quota)
  await addRow('q', { count: 1, blocked: '10 seconds' })
  await throttle.countUse(quota)
  await t.rejects(throttle.countUse(quota), { code: 'TOO_MANY_REQUESTS', message: /in 10 s$/ })
  t.match(await readRows(), { q: [3, 10] })
  await t.rejects(throttle.countUse({ ...quota, restarts: true }), { message: /in 60 s$/ })
  await addRow('q', { count: 9, blocked: '-1 second' })
  await throttle.countUse(quota)
  t.match(await readRows(), { q: [1, 60] })
})

t.test('a success subtracts its own tries from the total', async (t) => {
  await addRow('own', { count: 3 })
  await addRow('total', { count: 5 })
  await throttle.subtract('own', 'total')
  await throttle.subtract('own', 'total')
  t.same(await readRows(), { total: [2, null] })
  await addRow('own', { count: 3 })
  await throttle.subtract('own', 'total')
  t.same(await readRows(), { total: [0, null] })
})

t.test('tries of the last seconds are read with their wait', async (t) => {
  await addRow('waiting', { count: 1, blocked: '1 hour' })
  await addRow('over', { count: 2, blocked: '-1 hour' })
  await addRow('old', { count: 3, updated: '-61 seconds' })
  const found = await throttle.readAttempts(['waiting', 'over', 'old', 'none'], 60)
  t.same([...found].map(([key, { count, wait_seconds: wait }]) => [key, count, Math.round(wait / 60)]).sort(),
    [['over', 2, 0], ['waiting', 1, 60]])
  await throttle.clear(['over', 'old'])
  t.same(Object.keys(await readRows()), ['waiting'])
})

t.test('a visitor in a network of trusted proxies is logged', async (t) => {
  const call = (remoteAddress: string, forwarded: string) =>
    app.inject({ url: '/api/heartbeat', remoteAddress, headers: { 'x-forwarded-for': forwarded } })
  const warnings = () => lines.filter(({ msg }) => String(msg).includes('can claim any address'))
  await call('10.9.9.9', '203.0.113.1')
  await call('10.9.9.9', '203.0.113.1, 192.0.2.1')
  t.same(warnings(), [], 'visitors from elsewhere, and a proxy that is named')
  await call('10.9.9.9', '203.0.113.1, 10.1.2.3')
  await call('10.9.9.9', '203.0.113.2, 10.1.2.3')
  t.match(warnings(), [{ address: '10.1.2.3' }])
  t.equal(warnings().length, 1)
  const { problems } = (await app.inject({ url: '/api/health', headers: admin })).json<{ problems: object[] }>()
  t.match(problems, [{ kind: 'clients_trusted', subject: '10.1.2.3', remedy: /address of each proxy/ }])
})
