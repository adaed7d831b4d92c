import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import {
  createUsedDataDir, isAlive, listAllChildren, listChildren, runSvc, settings, tryFetch, waitUntilListening
} from './server.ts'

const PASSWORD = 'correct-horse-battery'
const OTHER_PASSWORD = 'staple-of-the-second'

t.test('a server that starts, heals and stops', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const env = settings(dataDir, {
    SVC_LOG_LEVEL: 'debug',
    SVC_ADMIN_USERNAME: 'admin',
    SVC_ADMIN_PASSWORD: PASSWORD,
    IGDB_CLIENT_ID: 'an id',
    IGDB_CLIENT_SECRET: 'hunter2hunter2'
  })
  const server = runSvc(t, ['start'], env)
  const { state, url } = await waitUntilListening(server, dataDir)
  const client = new pg.Client({ connectionString: state.database_url })
  await client.connect()
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`

  const isWorkerUp = async () => {
    const [pid] = await listChildren(server.pid, 'worker')
    if (pid === undefined) return null
    const { rowCount } = await client.query("select 1 from workers where role = 'worker' and id like $1", [`%:${pid}:%`])
    return rowCount === 1 && pid
  }
  const isAllUp = async () => (await listChildren(server.pid, 'web')).length === 2 && await isWorkerUp()

  await t.test('a first start makes the database, the library folder and the administrator', async (t) => {
    await until(isAllUp, 'all processes', server)
    await until(async () => server.output().includes('is ready'), 'the banner', server)
    t.match(server.output(), `data      ${dataDir}`)
    t.match(server.output(), `${url}/api/docs`)
    t.equal((await fetch(`${url}/api/users/me`, { headers: { authorization } })).status, 200)
    t.equal((await fetch(`${url}/api/users/me`)).status, 401)
  })

  await t.test('no process that the server runs has a secret in its environment, and plugins are set up all the same', {
    skip: process.platform !== 'linux' && 'only Linux shows the environment of other processes'
  }, async (t) => {
    const pids = await listAllChildren(server.pid)
    t.ok(pids.length >= 4, 'two web workers, the scan worker, the database')
    for (const pid of pids) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      for (const secret of [PASSWORD, 'hunter2hunter2', 'SVC_ADMIN_PASSWORD']) t.notMatch(environment, secret)
    }
    const reply = await fetch(`${url}/api/plugins`, { headers: { authorization } })
    t.match((await reply.json() as { key: string }[]).find(({ key }) => key === 'igdb'), { status: 'active' })
  })

  await t.test('a second start on the same data directory is refused with 75 and says what to do', async (t) => {
    const { code, output } = await runSvc(t, ['start'], env).ended
    t.equal(code, 75)
    t.match(output, new RegExp(`already running on ${dataDir} \\(process ${server.pid}, since 20.*kill ${server.pid}`))
    t.notMatch(output, /\n\s+at /)
  })

  await t.test('a user made on the command line can log in', async (t) => {
    const { code, output } = await runSvc(t, ['user', 'add', 'second', '--admin'],
      { ...env, SVC_NEW_PASSWORD: OTHER_PASSWORD }).ended
    t.equal(code, 0)
    t.match(output, "Administrator 'second' was made.")
    const given = `Basic ${Buffer.from(`second:${OTHER_PASSWORD}`).toString('base64')}`
    t.equal((await fetch(`${url}/api/users/me`, { headers: { authorization: given } })).status, 200)
  })

  await t.test('a name that is taken is refused in one line', async (t) => {
    const { code, output } = await runSvc(t, ['user', 'add', 'second'], { ...env, SVC_NEW_PASSWORD: OTHER_PASSWORD }).ended
    t.equal(code, 1)
    t.equal(output, "svc: Username 'second' is taken\n")
  })

  await t.test('a scan is queued from the command line and followed to its end', async (t) => {
    const { code, output } = await runSvc(t, ['scan', '--json'], env).ended
    t.equal(code, 0)
    const events = output.trim().split('\n').map((line) => JSON.parse(line) as { event: string, status?: string })
    t.equal(events[0]?.event, 'queued')
    t.match(events.at(-1), { event: 'scan:done', status: 'finished' })
  })

  await t.test('the scan worker gives way to web workers', {
    skip: (process.platform === 'win32' || getPriority() === 19) && 'there is no lower one'
  }, async () => {
    const [web = 0] = await listChildren(server.pid, 'web')
    const [worker = 0] = await listChildren(server.pid, 'worker')
    await until(() => getPriority(worker) > getPriority(web), 'a lower priority', server)
  })

  await t.test('a killed web worker is replaced', async (t) => {
    const [victim] = await listChildren(server.pid, 'web')
    process.kill(victim ?? NaN, 'SIGKILL')
    await until(async () => {
      const pids = await listChildren(server.pid, 'web')
      return pids.length === 2 && !pids.includes(victim ?? NaN)
    }, 'another web worker', server)
    t.equal((await until(() => tryFetch(`${url}/api/heartbeat`), 'an answer', server)).status, 200)
  })

  await t.test('a killed scan worker is replaced, and a scan that is asked for meanwhile is queued', async (t) => {
    const [victim] = await listChildren(server.pid, 'worker')
    process.kill(victim ?? NaN, 'SIGKILL')
    const asked = await fetch(`${url}/api/tasks/run/scan_library`, { method: 'POST', headers: { authorization } })
    t.equal(asked.status, 200)
    const pid = await until(async () => {
      const pid = await isWorkerUp()
      return pid !== victim && pid
    }, 'another scan worker', server)
    t.ok(isAlive(pid))
  })

  await t.test('SIGTERM ends everything, and with 0', async (t) => {
    await client.end()
    const children = [...await listChildren(server.pid, 'web'), ...await listChildren(server.pid, 'worker')]
    server.child.kill('SIGTERM')
    t.match(await server.ended, { code: 0, signal: null })
    t.same(children.filter(isAlive), [])
    t.equal(await tryFetch(`${url}/api/heartbeat`), null)
  })

  await t.test('no line of its log shows a password or a credential', async (t) => {
    t.match(server.output(), 'incoming request', 'requests were logged')
    for (const secret of [PASSWORD, OTHER_PASSWORD, authorization.slice('Basic '.length)]) {
      t.notOk(server.output().includes(secret))
    }
    t.notMatch(server.output(), /postgres:\/\//)
  })
})
