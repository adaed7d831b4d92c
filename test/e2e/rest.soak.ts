import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readLockFile } from '../../core/postgres/cluster.ts'
import { makeFolder } from '../folder.ts'
import { installInto } from '../loader/install.ts'
import { runCommand } from '../run-command.ts'
import { until } from '../until.ts'
import { createUsedDataDir, listChildren, runSvc, settings, waitUntilListening } from './server.ts'

const PASSWORD = 'correct-horse-battery'
/** No rest begins in the minute after a scheduled task was due, which may be any minute. */
const REST_MS = 180_000

t.test('a resting scan worker starts for whatever needs it, and rests again', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  const env = settings(dataDir, {
    WEB_SERVER_CONCURRENCY: '1',
    SVC_WORKER_REST_MINUTES: '0.02',
    ENABLE_SCHEDULED_CLEANUP_SYNC_SESSIONS: 'false',
    SVC_ADMIN_USERNAME: 'admin',
    SVC_ADMIN_PASSWORD: PASSWORD
  })
  const server = runSvc(t, ['start'], env)
  const { url } = await waitUntilListening(server, dataDir)
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`
  const listWorkers = () => listChildren(server.pid, 'worker')
  const untilResting = () => until(async () => (await listWorkers()).length === 0, 'a resting scan worker', { ...server, ms: REST_MS })
  const untilUp = () => until(async () => (await listWorkers()).length === 1, 'a scan worker', server)
  const readHealth = async () => await (await fetch(`${url}/api/health/ready`)).json() as { checks: { worker: { status: string } } }

  await t.test('nobody notices the rest', async (t) => {
    await until(() => server.output().includes('ended until there is work'), 'the log of the rest', { ...server, ms: REST_MS })
    await untilResting()
    t.equal((await readHealth()).checks.worker.status, 'ok')
    const plugins = await fetch(`${url}/api/plugins`, { headers: { authorization } })
    t.match(await plugins.json(), { 0: { seen_by: 'worker' } }, 'the worker itself answers')
    await untilResting()
  })

  await t.test('a plugin that is added during the rest waits for the next start of the server', async (t) => {
    await untilResting()
    installInto(dataDir, ['good-exporter'])
    const plugins = await (await fetch(`${url}/api/plugins`, { headers: { authorization } })).json() as { seen_by: string, origin: string }[]
    t.equal(plugins[0]?.seen_by, 'worker')
    t.same(plugins.filter(({ origin }) => origin === 'community'), [], 'the web workers do not know it either')
  })

  await t.test('a command waits for the start', async (t) => {
    await untilResting()
    const platform = join(dataDir, 'library', 'roms', 'snes')
    mkdirSync(platform, { recursive: true })
    writeFileSync(join(platform, 'Harbor.sfc'), 'a ROM')
    const { code, output } = await runCommand(t, ['scan'], env)
    t.equal(code, 0, output)
    t.match(output, /\b1\b/)
    await untilResting()
  })

  await t.test('a web worker that dies ends the rest, and so does the database', async (t) => {
    const [web] = await listChildren(server.pid, 'web')
    if (web === undefined) throw new Error('There is no web worker')
    process.kill(web, 'SIGKILL')
    await untilUp()
    await until(async () => (await listChildren(server.pid, 'web')).length === 1, 'another web worker', server)
    await untilResting()
    process.kill(Number((await readLockFile(join(dataDir, 'db')))[0]), 'SIGQUIT')
    await untilUp()
    await until(async () => {
      const { status } = await fetch(`${url}/api/health/ready`).catch(() => ({ status: 0 }))
      return status === 200
    }, 'the database again', server)
    const { code, output } = await runCommand(t, ['scan'], env)
    t.equal(code, 0, output)
  })

  await t.test('a file of settings that cannot be read leaves the server as it was', async (t) => {
    await untilResting()
    const file = join(dataDir, 'config.yml')
    writeFileSync(file, 'scan: [')
    const plugins = await fetch(`${url}/api/plugins`, { headers: { authorization } })
    t.match(await plugins.json(), { 0: { seen_by: 'worker' } })
    rmSync(file)
    t.equal((await readHealth()).checks.worker.status, 'ok')
  })

  await t.test('a worker that cannot start after the rest is tried again until it can', async (t) => {
    await untilResting()
    const file = join(dataDir, 'secret.key')
    renameSync(file, `${file}.kept`)
    writeFileSync(file, 'short')
    const plugins = fetch(`${url}/api/plugins`, { headers: { authorization } })
    await until(() => server.output().includes('the process cannot start'), 'the log of a failed start', server)
    t.equal((await fetch(`${url}/api/heartbeat`)).status, 200, 'the server runs without it')
    renameSync(`${file}.kept`, file)
    t.match(await (await plugins).json(), { 0: { seen_by: 'worker' } })
  })

  await t.test('a worker that is killed while it starts is replaced', async (t) => {
    await untilResting()
    const scan = runSvc(t, ['scan'], env)
    const [pid] = await until(async () => {
      const workers = await listWorkers()
      return workers.length === 1 && workers
    }, 'a starting scan worker', server)
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    const { code, output } = await scan.ended
    t.equal(code, 0, output)
  })

  await t.test('the server stops during the rest', async (t) => {
    await untilResting()
    server.child.kill('SIGTERM')
    t.equal((await server.ended).code, 0)
  })
})
