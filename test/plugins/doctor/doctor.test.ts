import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { type Duplex, pipeline } from 'node:stream'
import pg from 'pg'
import t, { type Test } from 'tap'
import { examineAddress, examineBaseUrl } from '../../../plugins/doctor/address.ts'
import { examineCluster, examineDatabase } from '../../../plugins/doctor/database.ts'
import { examineDisk } from '../../../plugins/doctor/disk.ts'
import type { CheckInput, Finding } from '../../../plugins/doctor/finding.ts'
import { examineLibraries } from '../../../plugins/doctor/libraries.ts'
import { examineMail } from '../../../plugins/doctor/mail.ts'
import { examinePooler } from '../../../plugins/doctor/pooler.ts'
import { examineZone } from '../../../plugins/doctor/zone.ts'
import { mailConfig } from '../../../plugins/mail/config.ts'
import { freePort } from '../../free-port.ts'
import { type TestApp, buildTestApp, createTestDatabase, shareTestApp } from '../../support.ts'
import { startMail } from '../mail/support.ts'
import { READABLE, patientOf } from './doctor-support.ts'

const fresh = shareTestApp(t)

const stateOf = (url: string): NonNullable<CheckInput['state']> =>
  ({ pid: process.pid, started_at: '', url, port: Number(new URL(url).port), database_url: '' })

const withServer = ({ config }: TestApp, server: Partial<TestApp['config']['server']>): Pick<TestApp, 'config'> =>
  ({ config: { ...config, server: { ...config.server, ...server } } })

/** Lists the subjects with problems as `status subject`. */
const listIlls = (findings: readonly Finding[]) =>
  findings.filter(({ status }) => status !== 'ok').map(({ status, subject }) => `${status} ${subject}`)

async function listen (test: TestApp): Promise<string> {
  const { server } = test.app
  if (server.address() === null) await test.app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a proxy that forwards requests, and WebSocket upgrades if told to. */
async function startProxy (t: Test, target: string, forwardsUpgrades: boolean): Promise<string> {
  const { port } = new URL(target)
  const proxy = createServer((request, response) => {
    // With the original Host header, the server would see that both addresses are the same.
    void fetch(`${target}${request.url}`, { headers: { origin: target }, redirect: 'manual' })
      .then(async (answer) => { response.writeHead(answer.status).end(await answer.text()) })
  })
  if (forwardsUpgrades) {
    proxy.on('upgrade', (request, socket: Duplex) => {
      const other = connect(Number(port), '127.0.0.1', () => {
        const lines = [`GET ${request.url} HTTP/1.1`]
        for (let at = 0; at < request.rawHeaders.length; at += 2) lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`)
        other.write(`${lines.join('\r\n')}\r\n\r\n`)
        pipeline(socket, other, socket, () => {})
      })
    })
  }
  await new Promise<void>((resolve) => { proxy.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

t.test('a server that runs well has no problems', async (t) => {
  const test = await fresh(t, { library: READABLE })
  const url = await listen(test)
  const findings = [
    ...await examineAddress(patientOf(test, { state: stateOf(url) })),
    ...await examineDisk(patientOf(test)),
    ...(await examineDatabase(test.app.pg, patientOf(test))).findings,
    ...await examineLibraries(test.config, test.app.pg)
  ]
  t.same(listIlls(findings), ['fail server'], 'this one has no scan worker')
  const messages = findings.map(({ message }) => message).join('\n')
  t.match(messages, /No scan worker is running/)
  t.match(messages, /Sockets can be opened at ws:/)
  t.match(messages, /All \d+ migrations are applied/)
  t.match(messages, /(?:distinguishes|does not distinguish) capital letters/)
})

t.test('a proxy that does not forward upgrades is detected, with its missing lines', async (t) => {
  const test = await fresh(t)
  const url = await listen(test)
  const findings = await examineBaseUrl(await startProxy(t, url, false), test.config)
  const [socket] = findings.filter(({ subject }) => subject === 'WebSocket')
  t.match(socket, { status: 'fail', message: /upgrades are not forwarded/, remedy: /Upgrade and Connection/ })
  t.ok(socket?.lines.some((line) => line.startsWith('nginx')))
  t.match(await examineBaseUrl(await startProxy(t, url, true), test.config),
    [{ subject: 'base URL', status: 'ok' }, { subject: 'WebSocket', status: 'ok' }])
})

t.test('a base URL that leads elsewhere, or nowhere, is reported with a remedy', async (t) => {
  const test = await fresh(t)
  const other = createServer((request, response) => {
    if (request.url?.startsWith('/old') === true) response.writeHead(301, { location: 'https://games.example.org/' }).end()
    else response.writeHead(200).end('It works!')
  })
  await new Promise<void>((resolve) => { other.listen(0, '127.0.0.1', resolve) })
  const place = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const ask = async (base: string) => (await examineBaseUrl(base, test.config))[0]
  t.match(await ask(place), { status: 'fail', message: /not from this server/, remedy: /the proxy to forward/ })
  t.match(await ask(`${place}/old`), { status: 'fail', message: /redirects to https:\/\/games\.example\.org/, remedy: /SVC_BASE_URL/ })
  await new Promise((resolve) => { other.close(resolve) })
  t.match(await ask(place), { status: 'fail', message: /cannot be reached/, remedy: /Correct SVC_BASE_URL/ })
})

t.test('an untrusted proxy behind https, and networks with visitors, are reported', async (t) => {
  const test = await fresh(t)
  const ask = async (server: Partial<TestApp['config']['server']>) =>
    (await examineAddress(patientOf(withServer(test, { port: 0, ...server })))).filter(({ subject }) => subject === 'proxy')
  t.match(await ask({ base_url: 'https://games.example.org' }), [{ status: 'warn', remedy: /SVC_TRUSTED_PROXIES/ }])
  t.match(await ask({ trusted_proxies: ['172.30.0.0/16'] }), [{ status: 'warn', message: /172\.30\.0\.0\/16/ }])
  t.same(await ask({ base_url: 'https://games.example.org', trusted_proxies: ['172.30.80.2'] }), [])
})

t.test('a port in use by another program is reported before the start', async (t) => {
  const test = await fresh(t)
  const port = Number(new URL(await listen(test)).port)
  const findings = await examineAddress(patientOf(withServer(test, { host: '127.0.0.1', port })))
  t.match(findings.find(({ subject }) => subject === 'port'),
    { status: 'fail', message: new RegExp(`^Port ${port} on 127.0.0.1 is in use`), remedy: /SVC_PORT/ })
})

t.test('a web host without a supervisor is found at its port', async (t) => {
  const test = await fresh(t)
  const port = Number(new URL(await listen(test)).port)
  const { config } = withServer(test, { host: '127.0.0.1', port })
  const database = { ...config.database, url: test.databaseUrl }
  const findings = await examineAddress(patientOf({ config: { ...config, database } }))
  t.same(findings.filter(({ subject }) => subject === 'port'), [])
  t.match(findings.find(({ subject }) => subject === 'WebSocket'), { status: 'ok' })
})

t.test('a machine with only a scan worker is recognised', async (t) => {
  const test = await buildTestApp(t, { worker: true, packages: [] })
  const { config } = withServer(test, { host: '127.0.0.1', port: await freePort() })
  const database = { ...config.database, url: test.databaseUrl }
  t.match(await examineAddress(patientOf({ config: { ...config, database } })),
    [{ status: 'ok', subject: 'server', message: /^A scan worker runs on this machine/ }])
})

t.test('an unmounted library is an error, one that is still empty is not', async (t) => {
  const test = await fresh(t)
  const ask = async () => listIlls(await examineLibraries(test.config, test.app.pg))
  t.same(await ask(), ['warn library library'], 'empty')
  await rm(test.libraryDir, { recursive: true })
  t.same(await ask(), ['fail library library'], 'gone')
  await mkdir(test.libraryDir)
})

t.test('a folder of the data directory that cannot be written is reported', async (t) => {
  const test = await fresh(t)
  const folder = join(test.config.data_dir, 'assets')
  await mkdir(folder, { recursive: true })
  t.same(listIlls(await examineDisk(patientOf(test))), [])
  await rm(folder, { recursive: true })
  await writeFile(folder, 'a file in the place of the folder')
  t.same(listIlls(await examineDisk(patientOf(test))), ['fail assets'])
  await rm(folder)
})

t.test('secrets that other users can read are reported', { skip: process.platform === 'win32' }, async (t) => {
  const test = await fresh(t)
  const file = join(test.config.data_dir, 'secret.key')
  await writeFile(file, 'x'.repeat(64), { mode: 0o600 })
  t.same(listIlls(await examineDisk(patientOf(test))), [])
  await chmod(file, 0o644)
  const findings = await examineDisk(patientOf(test))
  t.match(findings.find(({ status }) => status !== 'ok'), { status: 'warn', subject: 'secret.key', remedy: /chmod 600/ })
})

t.test('a database without a free connection is reported with its own remedy', async (t) => {
  const test = await fresh(t)
  // Other tests use a database of the usual template again.
  const url = await createTestDatabase(t, 'template0')
  await test.app.pg.query(`alter database ${new URL(url).pathname.slice(1)} connection limit 0`)
  const pool = new pg.Pool({ connectionString: url })
  const { findings } = await examineDatabase(pool, patientOf(test))
  await pool.end()
  t.match(findings, [{ status: 'fail', message: /too many connections/, remedy: /SVC_DATABASE_POOL_SIZE/ }])
})

t.test('an unreachable database and one of a newer release are reported', async (t) => {
  const test = await fresh(t)
  const pool = new pg.Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/none' })
  const { findings, isCurrent } = await examineDatabase(pool, patientOf(test))
  await pool.end()
  t.notOk(isCurrent)
  t.match(findings, [{ status: 'fail', subject: 'database', message: /does not answer: .*ECONNREFUSED/ }])
  await test.app.pg.query("insert into migrations (name) values ('29990101000000-contract-29990101000000-future')")
  const newer = await examineDatabase(test.app.pg, patientOf(test))
  await test.app.pg.query("delete from migrations where name like '2999%'")
  t.match(newer.findings.find(({ subject }) => subject === 'schema'), { status: 'fail', message: /newer release/ })
  t.match(examineCluster(patientOf(test)), { status: 'ok', message: /first start creates/ })
})

t.test('a database that can only be read is reported', async (t) => {
  const test = await fresh(t)
  const pool = new pg.Pool({ connectionString: test.databaseUrl, options: '-c default_transaction_read_only=on' })
  const { findings } = await examineDatabase(pool, patientOf(test))
  await pool.end()
  t.match(findings.filter(({ status }) => status !== 'ok'), [{ status: 'fail', subject: 'database', remedy: /pg_promote/ }])
})

t.test('the mail server is checked, and gets a mail only if there is a recipient', async (t) => {
  const test = await fresh(t)
  const { mails, server, env } = await startMail()
  const mail = { ...mailConfig.of(test.config), host: env.SMTP_HOST, port: Number(env.SMTP_PORT), security: 'none' as const, from: env.SMTP_FROM }
  const ask = async (mailTo: string | null, more: object = {}) =>
    await examineMail(patientOf({ config: Object.assign({}, test.config, { mail: { ...mail, ...more } }) }, { mailTo }))
  t.match(await ask(null), [{ status: 'ok' }])
  t.equal(mails.length, 0)
  t.match(await ask('me@example.org'), [{ status: 'ok', message: /accepted a mail to me@example\.org/ }])
  t.match(mails, [/svc doctor sent/])
  t.match(await ask('a@b, c@d'), [{ status: 'fail', message: /not one email address/ }])
  await new Promise<void>((resolve) => { server.close(resolve) })
  t.match(await ask(null), [{ status: 'fail', message: /does not accept mail: .*ECONNREFUSED/, remedy: /SMTP_/ }])
  t.match(await ask(null, { from: undefined }), [{ status: 'fail', remedy: /SMTP_FROM/ }])
})

t.test('an unknown time zone is reported', async (t) => {
  t.same([undefined, '', 'UTC', 'Europe/Berlin'].flatMap(examineZone), [])
  t.match(examineZone('Mars/Olympus'), [{ status: 'warn', message: /Mars\/Olympus/ }])
})

t.test('a pooler without time limits, or one that does not answer, is reported', async (t) => {
  const test = await fresh(t)
  const examine = (url: string, directUrl?: string) => {
    const urls = directUrl === undefined ? { url } : { url, direct_url: directUrl }
    return examinePooler(patientOf({ config: { ...test.config, database: { ...test.config.database, ...urls } } }))
  }
  t.same(await examine(test.databaseUrl), [], 'there is none')
  t.match(await examine(test.databaseUrl, test.databaseUrl), [{
    status: 'warn', message: /no idle_in_transaction_session_timeout, lock_timeout, statement_timeout/, remedy: /pgbouncer\.ini/
  }])
  const limited = new URL(test.databaseUrl)
  limited.searchParams.set('options', '-c statement_timeout=8000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=8000')
  t.match(await examine(limited.href, test.databaseUrl), [{ status: 'ok', message: /limits statements and locks\.$/ }])
  t.match(await examine('postgres://nobody@127.0.0.1:1/none', test.databaseUrl), [{ status: 'fail', message: /ECONNREFUSED/ }])
})
