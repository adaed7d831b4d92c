import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { buildApp } from '../../../core/app.ts'
import { createLogger, passLine } from '../../../core/log/log.ts'
import { ADMIN_ROOM, SIGNED_IN_ROOM } from '../../../core/sockets/sockets.ts'
import type { App } from '../../../core/typebox.ts'
import { features } from '../../../plugins/index.ts'
import { hasSeveralHosts } from '../../../plugins/logs/rows.ts'
import { toLogView } from '../../../plugins/logs/views.ts'
import { LineBuffer } from '../../../plugins/logs/line-buffer.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { signIn } from '../auth/support.ts'
import { untilConnected } from '../tasks/workers-support.ts'
import { character } from '../../any-string.ts'

interface Entry { ts: number, level: string, module: string, message: string }

const nowhere = { write () {} }
const createQuiet = (name: string) => createLogger({ server: { log_level: 'debug' } }, name, nowhere)
const loggers = { web: createQuiet('svc-web'), other: createQuiet('svc-web'), worker: createQuiet('svc-worker') }
// Builds two web workers and the scan worker, each with a logger of its own, as processes have.
const test = await buildTestApp(t, { logger: loggers.web, packages: [] })
const { app, admin, config, databaseUrl } = test
const build = (role: 'web' | 'worker', logger: typeof loggers.web, workerNumber: number) =>
  buildApp({ config, role, databaseUrl, logger, features, workerNumber, packages: [] })
const [other, worker] = [await build('web', loggers.other, 2), await build('worker', loggers.worker, 0)]
for (const one of [other, worker]) {
  t.teardown(() => one.close())
  await one.ready()
}
for (const one of [app, other]) await one.listen({ port: 0, host: '127.0.0.1' })
const bob = await test.createUser('bob')

async function list (query = ''): Promise<Entry[]> {
  const reply = await app.inject({ url: `/api/logs${query}`, headers: admin })
  if (reply.statusCode !== 200) throw new Error(reply.body)
  return reply.json<Entry[]>()
}

const withText = (entries: readonly Entry[], text: string) => entries.filter(({ message }) => message.includes(text))
const untilListed = (text: string, count: number) => until(async () => {
  const found = withText(await list(), text)
  return found.length >= count ? found : null
}, `${count} lines with '${text}' are listed`)

t.test('lines of all processes are listed by time, as their processes wrote them', async (t) => {
  loggers.web.info({ rom: 7, nothing: null }, 'order one')
  const first = await untilListed('order one', 1)
  loggers.worker.child({ plugin: 'provider/IGDB' }).warn({ err: new TypeError('it broke') }, 'order two')
  loggers.other.fatal('order three')
  loggers.web.debug('order four')
  const found = await untilListed('order ', 4)
  t.same(found.map(({ message }) => message).sort(), ['order four', 'order one rom=7 nothing=null', 'order three',
    'order two: TypeError: it broke'])
  t.match(new Map(found.map(({ message, level, module }) => [message.split(/[ :]/)[1], { level, module }])), new Map([
    ['one', { level: 'INFO', module: 'svc-web' }], ['two', { level: 'WARNING', module: 'provider/igdb' }],
    ['three', { level: 'CRITICAL', module: 'svc-web' }], ['four', { level: 'DEBUG', module: 'svc-web' }]
  ]))
  t.same(found[0], first[0])
  const times = (await list()).map(({ ts }) => ts)
  t.same(times, times.toSorted((a, b) => a - b))
})

t.test('at most the newest lines are listed, and at least one', async (t) => {
  for (let n = 0; n < 5; n++) loggers.web.info(`limit ${n}`)
  await untilListed('limit ', 5)
  t.equal((await list('?limit=2')).length, 2)
  t.equal((await list('?limit=0')).length, 1)
  t.equal((await list('?limit=-3')).length, 1)
  t.ok((await list('?limit=5000')).length >= 5)
  for (const limit of ['x', '1.5', '']) {
    t.equal((await app.inject({ url: `/api/logs?limit=${limit}`, headers: admin })).statusCode, 422, `limit '${limit}'`)
  }
  t.equal((await app.inject({ url: '/api/logs', headers: bob })).statusCode, 403)
  t.equal((await app.inject('/api/logs')).statusCode, 401)
})

/** Collects the log events that a page of a user receives at a web worker. */
async function listen (t: Pick<Test, 'teardown'>, to: App, username: string, room: string): Promise<Entry[]> {
  const { cookie } = await signIn(to, username)
  const socket = io(`http://127.0.0.1:${(to.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  const heard: Entry[] = []
  socket.on('logs:entry', (entry: Entry) => { heard.push(entry) })
  await once(socket as never, 'connect')
  await until(() => to.sockets.main.sockets.adapter.rooms.get(room)?.has(socket.id ?? '') === true, 'the socket is bound')
  return heard
}

t.test('each administrator gets each line once and in order, other users get none', async (t) => {
  await untilConnected(test, 3, 2)
  const [here, there] = [await listen(t, app, 'admin', ADMIN_ROOM), await listen(t, other, 'admin', ADMIN_ROOM)]
  const member = await listen(t, app, 'bob', SIGNED_IN_ROOM)
  const names = ['web', 'other', 'worker'] as const
  for (let n = 0; n < 20; n++) {
    for (const name of names) loggers[name].info(`heard ${name} ${n}`)
  }
  for (const heard of [here, there]) {
    await until(() => withText(heard, 'heard ').length >= 60, 'all is heard')
    for (const name of names) {
      t.same(withText(heard, `heard ${name} `).map(({ message }) => message),
        Array.from({ length: 20 }, (_, n) => `heard ${name} ${n}`))
    }
    t.equal(withText(heard, 'heard ').length, 60)
  }
  t.match(withText(here, 'heard worker')[0], { ts: Number, level: 'INFO', module: 'svc-worker' })
  // The workers' answer comes after all events that were sent before.
  await until(async () => (await app.sockets.countConnections()) >= 3, 'the workers answer')
  t.same(withText(member, 'heard '), [])
})

t.test('no line contains secrets or colours', async (t) => {
  const token = `svc_${'ab'.repeat(32)}`
  loggers.web.info({ password: 'hunter2', headers: { authorization: 'hunter2' } },
    `secret \u001b[31mred\u001b[0m GET /api/feeds/tinfoil?token=hunter2&limit=5 by ${token}, Bearer hunter2hunter2, ` +
    'Basic aHVudGVyMjpodW50ZXIy at https://alice:hunter2@example.org/x, \0eyJhbGciOiJ9.eyJodW50ZXIyfQ.c2lnbmF0dXJl.')
  const [entry] = await untilListed('secret ', 1)
  t.equal(entry?.message, 'secret red GET /api/feeds/tinfoil?token=********&limit=5 by ********, Bearer ********, ' +
    'Basic ******** at https://********@example.org/x, ********. password=******** headers={"authorization":"********"}')
})

t.test('lines that the supervisor passes to a process are listed like its own', async (t) => {
  passLine(loggers.web, JSON.stringify({ level: 50, time: 1_000, name: 'svc', process: 'web worker 2', msg: 'passed on' }))
  t.match(await untilListed('passed on', 1), [{ ts: 1_000, level: 'ERROR', module: 'svc', message: 'passed on process=web worker 2' }])
})

t.test('of a flood the newest lines and the number of dropped ones are listed', async (t) => {
  for (let n = 1; n <= 20_000; n++) loggers.other.info(`flood ${n}`)
  await untilListed('flood 20000', 1)
  const [notice] = await untilListed('were skipped here', 1)
  t.match(notice, { level: 'WARNING', module: 'logs', message: /^\d+ lines were skipped here/ })
  // New lines are stored a moment before the oldest ones are deleted.
  const countLines = async () => (await app.pg.query<{ count: number }>('select count(*)::int as count from log_lines')).rows[0]?.count
  await until(async () => (await countLines() ?? Infinity) <= 1_000, 'the deletion of the oldest lines')
  // A flood of one process does not suppress the lines of others.
  loggers.worker.info('after the flood')
  await untilListed('after the flood', 1)
})

t.test('with the viewer off, nothing is stored and no event is sent', async (t) => {
  const logger = createQuiet('svc-web')
  const { app, admin, createUser } = await buildTestApp(t, { logger, env: { DISABLE_LOGS_VIEWER: 'true' }, packages: [] })
  const carol = await createUser('carol')
  logger.info('not kept')
  const reply = await app.inject({ url: '/api/logs', headers: admin })
  t.equal(reply.statusCode, 404)
  t.same(reply.json(), { detail: 'Logs viewer is disabled' })
  t.equal((await app.inject({ url: '/api/logs', headers: carol })).statusCode, 403)
  t.match((await app.inject('/api/heartbeat')).json(), { FRONTEND: { DISABLE_LOGS_VIEWER: true } })
  t.equal((await app.pg.query('select 1 from log_lines')).rowCount, 0)
})

t.test('waiting lines are bounded in number and size, and dropped ones counted once', async () => {
  const commands = fc.array(fc.oneof(
    fc.record({ add: fc.integer({ min: 0, max: 40 }), length: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ take: fc.integer({ min: 0, max: 20 }) })), { maxLength: 30 })
  fc.assert(fc.property(commands, (steps) => {
    const waiting = new LineBuffer(10, 200)
    let added: string[] = []
    for (const step of [...steps, { take: 5 }]) {
      if ('add' in step) {
        const lines = Array.from({ length: step.add }, (_, n) => `${n}`.padEnd(step.length, '.'))
        lines.forEach((line) => { waiting.add(line) })
        added.push(...lines)
      } else {
        const { lines, dropped: left } = waiting.takeNewest(step.take)
        const size = lines.join('').length
        if (lines.length > Math.min(10, step.take) || size > 200) return false
        if (left + lines.length !== added.length) return false
        if (JSON.stringify(added.slice(left)) !== JSON.stringify(lines)) return false
        added = []
      }
    }
    return waiting.isEmpty
  }), { numRuns: 50 })
})

t.test('a line names its host if hosts of several names use the database', async (t) => {
  const line = JSON.stringify({ level: 30, msg: 'begun', hostname: 'scanner' })
  t.match([false, true].map((hasHost) => toLogView(line, hasHost)?.message), ['begun', 'begun hostname=scanner'])
  t.notOk(await hasSeveralHosts(app.db))
  const rename = (from: string) => app.pg.query(`update workers set host_name = ${from} where id = $1`, [other.workers.id])
  await rename("host_name || '-2'")
  t.teardown(() => rename('left(host_name, -2)'))
  t.ok(await hasSeveralHosts(app.db))
})

t.test('any line is cut to a size that fits, or dropped', async () => {
  const msg = fc.string({ unit: character, maxLength: 9_000 })
  const line = fc.oneof(fc.string(), fc.object().map((fields) => JSON.stringify(fields)),
    fc.record({ level: fc.anything(), time: fc.anything(), msg, err: fc.anything() })
      .map((fields) => JSON.stringify(fields) ?? ''))
  fc.assert(fc.property(line, (text) => {
    const entry = toLogView(text)
    return entry === null || (Buffer.byteLength(entry.message) < 6_100 && entry.message.isWellFormed() && !entry.message.includes('\0'))
  }), { numRuns: 50 })
})
