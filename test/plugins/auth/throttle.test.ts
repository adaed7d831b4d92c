import t from 'tap'
import { isVerifiable, verifyPassword } from '../../../plugins/auth/password-hash.ts'
import { buildTestApp } from '../../support.ts'

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

t.test('a visitor in a network of trusted proxies is logged', async (t) => {
  const lines: Record<string, unknown>[] = []
  const { app, admin } = await buildTestApp(t, {
    env: { SVC_TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.1' }, log: (line) => { lines.push(line) }
  })
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
