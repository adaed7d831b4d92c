import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { readLockFile } from '../../core/postgres/cluster.ts'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import {
  START_MS, createUsedDataDir, isAlive, listChildren, runNpm, runSvc, settings, tryFetch,
  waitUntilListening
} from './server.ts'
import { runCommand } from '../run-command.ts'
import { isDataDirLocked } from '../../core/supervisor/lock.ts'
import { readServerState } from '../../core/supervisor/server-state.ts'

const PASSWORD = 'correct-horse-battery'
const OTHER_PASSWORD = 'staple-of-the-second'

/** A busy machine may end ten servers at once. A database that nothing stops would run for ever. */
const ENDS_MS = 30_000

const findDatabase = async (dataDir: string) => Number((await readLockFile(join(dataDir, 'db')))[0])

t.test('a server recovers from ended processes and a lost database', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const env = settings(dataDir, {
    WEB_SERVER_CONCURRENCY: '1',
    SVC_LOG_LEVEL: 'debug',
    SCHEDULED_RESCAN_CRON: '7 7 * * *',
    ENABLE_SCHEDULED_RESCAN: 'true',
    SVC_ADMIN_USERNAME: 'admin',
    SVC_ADMIN_PASSWORD: PASSWORD
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
  /** Returns the only web worker. */
  const findWeb = () => until(async () => (await listChildren(server.pid, 'web'))[0], 'a web worker', server)
  const untilAnswered = () =>
    until(async () => (await tryFetch(`${url}/api/heartbeat`))?.status === 200, 'the first answer again', server)

  /** Sends a request on its own connection. Returns when it was sent, and its end: its status or 'closed'. */
  function ask () {
    const [sent, end] = [Promise.withResolvers<void>(), Promise.withResolvers<number | 'closed'>()]
    const request = get(`${url}/api/heartbeat`, { agent: false }, (answer) => {
      answer.resume()
      end.resolve(answer.statusCode ?? 0)
    })
    request.on('finish', sent.resolve).on('error', () => { end.resolve('closed') })
    return { sent: sent.promise, end: end.promise }
  }

  await t.test('a user created on the command line can log in', async (t) => {
    const { code, output } = await runSvc(t, ['user', 'add', 'second', '--admin'],
      { ...env, SVC_NEW_PASSWORD: OTHER_PASSWORD }).ended
    t.equal(code, 0)
    t.match(output, "Administrator 'second' was created.")
    const given = `Basic ${Buffer.from(`second:${OTHER_PASSWORD}`).toString('base64')}`
    t.equal((await fetch(`${url}/api/users/me`, { headers: { authorization: given } })).status, 200)
  })

  await t.test('a taken name is refused in one line', async (t) => {
    const { code, output } = await runCommand(t, ['user', 'add', 'second'], { ...env, SVC_NEW_PASSWORD: OTHER_PASSWORD })
    t.equal(code, 1)
    t.equal(output, "svc: Username 'second' is taken\n")
  })

  await t.test('an export from an empty database names the option that scans', async (t) => {
    t.match(await runCommand(t, ['export', 'gamelist'], env),
      { code: 0, output: /The database has no platform yet\. Repeat this command with --scan/ })
  })

  await t.test('a running server is backed up, and a restore into it is refused', async (t) => {
    const archive = join(dataDir, '..', 'backup.tar.gz')
    t.match(await runSvc(t, ['backup', archive, '--without-secret-key'], env).ended,
      { code: 0, output: /tables were restored into a temporary database/ })
    t.match(await runCommand(t, ['restore', archive], env), { code: 75, output: /A server, .* is using / })
  })

  await t.test('a dying web worker drops its requests, and waiting ones go to the next', async (t) => {
    const pid = await findWeb()
    process.kill(pid, 'SIGSTOP')
    const asked = [ask(), ask(), ask()]
    await Promise.all(asked.map(({ sent }) => sent))
    process.kill(pid, 'SIGKILL')
    for (const end of await Promise.all(asked.map(({ end }) => end))) t.match(String(end), /^(closed|200)$/)
    await untilAnswered()
    t.not(await findWeb(), pid)
  })

  await t.test('a connection to a closing web worker is answered or cut off', async () => {
    const pid = await findWeb()
    let waiting = 0

    /** Sends requests until nothing listens, or the worker has ended. */
    async function visit (): Promise<void> {
      for (let end: number | 'closed' = 0; end !== 'closed' && isAlive(pid); waiting--) {
        waiting++
        end = await ask().end
      }
    }
    const visitors = Array.from({ length: 24 }, visit)
    process.kill(pid, 'SIGTERM')
    await until(() => !isAlive(pid), 'its end', server)
    await until(() => waiting === 0, 'the end of every request', { output: () => `${waiting} are open` })
    await Promise.all(visitors)
    await untilAnswered()
  })

  await t.test('a killed scan worker is replaced, and a scan requested meanwhile is queued', async (t) => {
    const victim = await until(isWorkerUp, 'the scan worker', server)
    process.kill(victim, 'SIGKILL')
    const asked = await fetch(`${url}/api/tasks/run/scan_library`, { method: 'POST', headers: { authorization } })
    t.equal(asked.status, 200)
    const pid = await until(async () => {
      const pid = await isWorkerUp()
      return pid !== victim && pid
    }, 'another scan worker', server)
    t.ok(isAlive(pid))
  })

  await t.test('without a database the server answers 503, and it recovers by itself', async (t) => {
    await client.end()
    const database = await findDatabase(dataDir)
    process.kill(database, 'SIGKILL')
    // An unknown session is looked up each time. The heartbeat may answer from its cache until the database is back.
    const askUnknown = () => tryFetch(`${url}/api/users/me`, { headers: { cookie: 'svc_session=unknown' } })
    const refused = await until(async () => {
      const answer = await askUnknown()
      return answer !== null && answer.status !== 401 && answer
    }, 'an answer without a database', server)
    t.equal(refused.status, 503)
    t.match(refused.headers.get('retry-after'), /^\d+$/)
    t.match(await refused.json(), { detail: /try again/ })
    await until(async () => (await askUnknown())?.status === 401, 'the database again', server)
  })

  const orphans = await until(async () => {
    const [web, worker] = [await listChildren(server.pid, 'web'), await listChildren(server.pid, 'worker')]
    return web.length === 1 && worker.length === 1 && [...web, ...worker]
  }, 'the scan worker', server)
  const database = await findDatabase(dataDir)
  server.child.kill('SIGKILL')

  await t.test('a command after the supervisor was killed says how to start the server', async (t) => {
    t.match(await server.ended, { signal: 'SIGKILL' })
    const { code, output } = await runCommand(t, ['user', 'add', 'somebody'], { ...env, SVC_NEW_PASSWORD: 'a password' })
    t.equal(code, 1)
    t.match(output, /No server is running on .*Start the server with node .*svc\.js.* start/)
  })

  await t.test('the database of a killed supervisor ends within seconds', {
    skip: process.platform === 'win32' && 'Windows has no signal that the database understands'
  }, async () => {
    await until(() => !isAlive(database), 'the end of the database', { ...server, ms: ENDS_MS })
  })

  // Windows has no signal that ends npm and the server.
  const second = (process.platform === 'win32' ? runSvc : runNpm)(t, ['start'], env)

  /** Returns the state of the second server, once it listens. */
  const findSecond = () => until(() => {
    const state = readServerState(dataDir)
    return state?.port != null && state.pid !== server.pid && { pid: state.pid, port: state.port }
  }, 'a listening server', { ...second, ms: START_MS })

  await t.test('a command right after the start waits for the server', async (t) => {
    await until(() => isDataDirLocked(dataDir), 'the claim of the data directory', second)
    const { code, output } = await runCommand(t, ['tasks', '--json'], settings(dataDir))
    t.equal(code, 0, output)
    const tasks = output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { name: string })
    t.match(tasks.find(({ name }) => name === 'scan_library'), { enabled: true, cron_string: '7 7 * * *' })
  })

  await t.test('a server whose supervisor was killed leaves no process and starts again', async (t) => {
    const state = await findSecond()
    t.equal((await fetch(`http://127.0.0.1:${state.port}/api/heartbeat`)).status, 200)
    await until(async () => orphans.every((pid) => !isAlive(pid)), 'the orphans to end', second)
  })

  await t.test('SIGTERM to npm alone ends the server and its database', {
    skip: process.platform === 'win32' && 'Windows has no signals'
  }, async () => {
    const { pid } = await findSecond()
    const database = await findDatabase(dataDir)
    second.child.kill('SIGTERM')
    await until(() => !isAlive(pid) && !isAlive(database), 'the end of the server', { ...second, ms: ENDS_MS })
  })

  await t.test('an export without a server scans on request and writes the files', async (t) => {
    const ownDir = join(dataDir, '..', 'export')
    createUsedDataDir(ownDir)
    const folder = join(ownDir, 'library', 'roms', 'snes')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'Alpha.sfc'), 'alpha')
    // Nothing listens there, so no provider is asked.
    const alone = settings(ownDir, { SVC_SOURCES_GATEWAY: 'http://127.0.0.1:9' })
    const { code, output } = await runSvc(t, ['export', 'gamelist', '--scan'], alone).ended
    t.match({ code, output }, { code: 0, output: /gamelist\.xml: games 1/ })
    t.match(readFileSync(join(folder, 'gamelist.xml'), 'utf8'), '<path>./Alpha.sfc</path>')
  })

  await t.test('the log contains no password and no credential', async (t) => {
    t.match(server.output(), 'incoming request', 'requests were logged')
    const output = server.output() + second.output()
    for (const secret of [PASSWORD, OTHER_PASSWORD, authorization.slice('Basic '.length)]) t.notOk(output.includes(secret))
    t.notMatch(output, /postgres:\/\//)
  })
})
