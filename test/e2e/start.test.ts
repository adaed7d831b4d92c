import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import { createUsedDataDir, isAlive, listAllChildren, listChildren, runSvc, settings, waitUntilListening } from './server.ts'

const PASSWORD = 'correct-horse-battery'

t.test('a server starts, scans and stops', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const env = settings(dataDir, {
    WEB_SERVER_CONCURRENCY: '1',
    SVC_LOG_LEVEL: 'debug',
    SVC_ADMIN_USERNAME: 'admin',
    SVC_ADMIN_PASSWORD: PASSWORD,
    IGDB_CLIENT_ID: 'an id',
    IGDB_CLIENT_SECRET: 'hunter2hunter2'
  })
  const server = runSvc(t, ['start'], env)
  const { url } = await waitUntilListening(server, dataDir)
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`

  await t.test('a first start creates the database, the library folder and the administrator', async (t) => {
    await until(() => server.output().includes(`data      ${dataDir}`), 'the banner', server)
    t.match(server.output(), `${url}/api/docs`)
    t.equal((await fetch(`${url}/api/users/me`, { headers: { authorization } })).status, 200)
    t.equal((await fetch(`${url}/api/users/me`)).status, 401)
  })

  await t.test('svc scan queues a scan and follows it to its end', async (t) => {
    const { code, output } = await runSvc(t, ['scan', '--json'], env).ended
    t.equal(code, 0)
    const events = output.trim().split('\n').map((line) => JSON.parse(line) as { event: string, status?: string })
    t.equal(events[0]?.event, 'queued')
    t.match(events.at(-1), { event: 'scan:done', status: 'finished' })
  })

  await t.test('no process of the server has a secret in its environment', {
    skip: process.platform !== 'linux' && 'only Linux shows the environment of other processes'
  }, async (t) => {
    const pids = await until(async () => {
      const pids = await listAllChildren(server.pid)
      return pids.length >= 3 && pids
    }, 'the web worker, the scan worker and the database', server)
    for (const pid of pids) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      for (const secret of [PASSWORD, 'hunter2hunter2', 'SVC_ADMIN_PASSWORD']) t.notMatch(environment, secret)
    }
    const reply = await fetch(`${url}/api/plugins`, { headers: { authorization } })
    t.match((await reply.json() as { key: string }[]).find(({ key }) => key === 'igdb'), { status: 'active' })
  })

  await t.test('a signal opens no debugger in any process of the server', {
    skip: process.platform === 'win32' && 'Windows has no signals'
  }, async (t) => {
    const commands = await Promise.all([server.pid, ...await listChildren(server.pid, 'web'), ...await listChildren(server.pid, 'worker')]
      .map(async (pid) => (await promisify(execFile)('ps', ['-o', 'args=', '-p', String(pid)])).stdout))
    t.equal(commands.length, 3)
    for (const command of commands) t.match(command, /--disable-sigusr1 /)
    process.kill(server.pid, 'SIGUSR1')
    t.notMatch(server.output(), 'Debugger listening')
    t.equal((await fetch(`${url}/api/heartbeat`)).status, 200)
  })

  await t.test('the scan worker has a lower priority than web workers', {
    skip: (process.platform === 'win32' || getPriority() === 19) && 'there is no lower one'
  }, async () => {
    const [[web = 0], [worker = 0]] = [await listChildren(server.pid, 'web'), await listChildren(server.pid, 'worker')]
    await until(() => getPriority(worker) > getPriority(web), 'a lower priority', server)
  })

  await t.test('a second start on a data directory exits with 75 and states the remedy', async (t) => {
    const { code, output } = await runSvc(t, ['start'], env).ended
    t.equal(code, 75)
    t.match(output, new RegExp(`already running on ${dataDir} \\(process ${server.pid}, since 20.*kill ${server.pid}`))
    t.notMatch(output, /\n\s+at /)
  })

  await t.test('the log contains no password and no credential', async (t) => {
    t.match(server.output(), 'incoming request', 'requests were logged')
    for (const secret of [PASSWORD, authorization.slice('Basic '.length)]) t.notOk(server.output().includes(secret))
    t.notMatch(server.output(), /postgres:\/\//)
  })

  await t.test('SIGTERM ends all processes of the server', {
    skip: process.platform === 'win32' && 'Windows has no signals'
  }, async (t) => {
    const pids = await listAllChildren(server.pid)
    server.child.kill('SIGTERM')
    t.match(await server.ended, { code: 0 })
    t.same(pids.filter(isAlive), [])
  })
})
