import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pino } from 'pino'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { StartError } from '../../../core/errors.ts'
import { renderBanner } from '../../../core/supervisor/banner.ts'
import { listenUrl } from '../../../core/config/base-url.ts'
import { commandLine } from '../../../core/process/command-line.ts'
import { countConnections } from '../../../core/supervisor/database.ts'
import { clearOldSockets, createLayout, openSocketFolder } from '../../../core/supervisor/folders.ts'
import { createGrowth } from '../../../core/supervisor/grow-workers.ts'
import { isDataDirLocked, lockDataDir } from '../../../core/supervisor/lock.ts'
import { isProcessMessage, isSupervisorMessage } from '../../../core/supervisor/messages.ts'
import { checkPort } from '../../../core/supervisor/port.ts'
import { Slot, type SlotOptions } from '../../../core/supervisor/process-slot.ts'
import { restartDelay } from '../../../core/process/restart-delay.ts'
import { readServerState, writeServerState } from '../../../core/supervisor/server-state.ts'
import { loadConfig } from '../../load-config.ts'
import { isAlive } from '../../e2e/server.ts'

const STATE = { pid: 1, started_at: '2026-01-01T00:00:00Z', url: null, port: null, database_url: 'postgres://db' }
const START = {
  type: 'start', name: 'web worker 1', settings: {}, config_text: '', database_url: 'u', database_pid: null, migrate: false, host_id: 'h', worker_number: 1, socket_dir: '/', port: 1, rest_ms: 0, installed: null, woken_after_ms: null
} as const
const silent = pino({ level: 'silent' })

const configOf = (dataDir: string, env: Record<string, string> = {}) =>
  loadConfig({ SVC_DATA_DIR: dataDir, ...env }).config

t.test('a data directory has one holder at a time', async (t) => {
  const dataDir = t.testdir({})
  t.equal(isDataDirLocked(dataDir), false)
  const lock = lockDataDir(dataDir)
  t.ok(lock)
  t.equal(lockDataDir(dataDir), null)
  t.equal(isDataDirLocked(dataDir), true)
  lock?.release()
  t.equal(isDataDirLocked(dataDir), false)
  const next = lockDataDir(dataDir)
  t.ok(next, 'free again')
  next?.release()
})

t.test('the lock of a killed process is free at once', async (t) => {
  const dataDir = t.testdir({
    'hold.mjs': `const { lockDataDir } = await import(${JSON.stringify(import.meta.resolve('../../../core/supervisor/lock.ts'))})
      // Held on to: one that nobody could release any more would go with the garbage.
      globalThis.lock = lockDataDir(process.argv[2])
      process.send('held')
      setInterval(() => {}, 1e6)`
  })
  const holder = fork(join(dataDir, 'hold.mjs'), [dataDir])
  await once(holder, 'message')
  t.equal(isDataDirLocked(dataDir), true)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  t.equal(isDataDirLocked(dataDir), false)
})

t.test('a data directory that cannot be created is named', async (t) => {
  const dataDir = join(t.testdir({ file: '' }), 'file')
  t.throws(() => lockDataDir(dataDir), new StartError(`The data directory ${dataDir} cannot be used: EEXIST: file already exists, ` +
    `mkdir '${dataDir}'. A file has the name of a folder: move the file away, or set SVC_DATA_DIR to another folder.`))
})

t.test('a data directory below /proc is refused at once', { skip: process.platform !== 'linux' }, async (t) => {
  t.throws(() => lockDataDir('/proc/svc/data'), new StartError('The data directory /proc/svc/data cannot be used: ENOENT: ' +
    "no such file or directory, mkdir '/proc/svc'. That file system does not allow new folders: set SVC_DATA_DIR to another folder."))
})

t.test('the state of a server counts only while that server runs', async (t) => {
  const dataDir = t.testdir({})
  t.equal(readServerState(dataDir), null)
  const lock = lockDataDir(dataDir)
  writeServerState(dataDir, STATE)
  t.same(readServerState(dataDir), STATE)
  t.equal(statSync(join(dataDir, 'run', 'server.json')).mode & 0o777, 0o600)
  lock?.release()
  t.equal(readServerState(dataDir), null)
})

t.test('a damaged state counts as none', async (t) => {
  const dataDir = t.testdir({})
  const lock = lockDataDir(dataDir)
  for (const text of ['', '{"pid":', '{"pid":"one"}', '[]']) {
    writeFileSync(join(dataDir, 'run', 'server.json'), text)
    t.equal(readServerState(dataDir), null, text)
  }
  lock?.release()
})

t.test('the first start creates the library folder; later ones do not change it', async (t) => {
  const dataDir = join(t.testdir({}), 'data')
  const config = configOf(dataDir)
  await createLayout(config)
  t.ok(existsSync(join(dataDir, 'library', 'roms')))
  for (const folder of [dataDir, join(dataDir, 'run')]) t.equal(statSync(folder).mode & 0o777, 0o700, folder)
  const other = t.testdir({ 'my-games': { nes: {} } })
  await createLayout(configOf(dataDir, { SVC_LIBRARY_DIR: join(other, 'my-games') }))
  t.same(readdirSync(join(other, 'my-games')), ['nes'])
})

t.test('a later start creates no library on a disk that is not mounted', async (t) => {
  const folder = t.testdir({ data: { identity: '' } })
  const dataDir = join(folder, 'data')
  await createLayout(configOf(dataDir, { SVC_LIBRARY_DIR: join(folder, 'disk', 'games') }))
  t.notOk(existsSync(join(folder, 'disk')))
  await createLayout(configOf(dataDir))
  t.ok(existsSync(join(dataDir, 'library', 'roms')), 'its own library is created')
})

t.test('a setting with a wrong file or folder stops the start and is named', async (t) => {
  const folder = t.testdir({ file: '', data: {} })
  const fails = (env: Record<string, string>, message: RegExp) =>
    t.rejects(createLayout(configOf(join(folder, 'data'), env)), { exitCode: 1, message })
  await fails({ SVC_LIBRARY_DIR: join(folder, 'file') }, /^SVC_LIBRARY_DIR: .*file is a file\. Set it to the folder that holds the platforms\.$/)
  await fails({ SVC_WEB_DIR: join(folder, 'file') }, /^SVC_WEB_DIR: .*file is a file\. Set it to the folder with index\.html, or remove it\.$/)
  await fails({ OIDC_TLS_CACERTFILE: join(folder, 'ca.pem') },
    /^OIDC_TLS_CACERTFILE: .*ca\.pem is missing\. Set it to a file that exists, or remove it\.$/)
  await fails({ SYNC_BASE_PATH: join(folder, 'file') }, /^SYNC_BASE_PATH: .*file is a file\. Set it to the path of a folder, or remove it\.$/)
  await fails({ SYNC_SSH_KEYS_PATH: join(folder, 'keys') }, /^SYNC_SSH_KEYS_PATH: .*keys is missing\./)
  await fails({ SYNC_SSH_KNOWN_HOSTS_PATH: folder }, /^SYNC_SSH_KNOWN_HOSTS_PATH: .* is not a file\./)
  await fails({ SVC_DATS_DIR: '~/dats' }, /^SVC_DATS_DIR: ~\/dats begins with '~', which only a shell replaces .* Write the whole path\.$/)
  await createLayout(configOf(join(folder, 'data'), { SYNC_BASE_PATH: join(folder, 'sync'), OIDC_TLS_CACERTFILE: join(folder, 'file') }))
  await fails({ SVC_WEB_DIR: join(folder, 'pages') }, /^SVC_WEB_DIR: .*pages is missing\./)
})

t.test('a library in a folder of the system, the server or a library stops the start', async (t) => {
  const folder = t.testdir({ data: {}, games: { psx: {} }, etc: t.fixture('symlink', '/etc'), same: t.fixture('symlink', 'games') })
  const file = join(folder, 'data', 'config.yml')
  const etc = join(folder, 'etc')
  const start = async (libraries: Record<string, string>) => {
    const listed = Object.entries(libraries).map(([name, path]) => [name, { path: join(folder, path) }] as const)
    writeFileSync(file, JSON.stringify({ libraries: Object.fromEntries(listed) }))
    await createLayout(configOf(join(folder, 'data')))
  }
  await t.rejects(start({ games: 'games', linked: 'etc' }), {
    exitCode: 1,
    message: `libraries.linked.path in ${file}: '${etc}' is a folder of the system; choose a folder that contains only the library.`
  })
  await t.rejects(start({ own: 'data/assets' }), { message: /^libraries\.own\.path in .* where the server keeps its own files/ })
  await t.rejects(start({ games: 'games', same: 'same' }), { message: /^libraries\.same\.path in .* overlaps with the library 'games'/ })
  await start({ games: 'games', unmounted: 'not-there' })
  rmSync(file)
  await t.rejects(createLayout(configOf(join(folder, 'data'), { SVC_LIBRARY_DIR: '/usr/share' })), {
    message: /^SVC_LIBRARY_DIR: '\/usr\/share' is a folder of the system/
  })
})

t.test('local sockets move to a private folder if the data directory is too deep', async (t) => {
  const dataDir = join(t.testdir({}), 'd'.repeat(110))
  const folder = await openSocketFolder(configOf(dataDir))
  t.notMatch(folder.path, 'ddddd')
  t.equal(statSync(folder.path).mode & 0o777, 0o700)
  folder.remove()
  t.notOk(existsSync(folder.path))
})

t.test('sockets of killed workers are deleted, other files stay', async (t) => {
  const config = configOf(t.testdir({ run: { 'web-1-abc.sock': '', 'web-0123456789abcdef0123-12-x.sock': '', lock: '', 'web-notes.sock': '' } }))
  clearOldSockets(config)
  t.same(readdirSync(join(config.data_dir, 'run')).sort(), ['lock', 'web-notes.sock'])
})

t.test('port 0 becomes a free one, and a port in use is reported', async (t) => {
  const { server } = configOf(t.testdir({}), { SVC_HOST: '127.0.0.1', SVC_PORT: '0' })
  t.ok(await checkPort(server) > 0)
  await t.rejects(checkPort({ ...server, host: '203.0.113.1' }), { message: /SVC_HOST: "203.0.113.1" is not an address/ })
})

t.test('restart delays grow up to half a minute', async (t) => {
  t.same([0, 1, 2, 7, 8, 1000].map(restartDelay), [200, 400, 800, 25_600, 30_000, 30_000])
})

t.test('the embedded database allows all connections of all processes', async (t) => {
  const dataDir = t.testdir({})
  const few = countConnections(configOf(dataDir, { WEB_SERVER_CONCURRENCY: '1' }))
  const many = countConnections(configOf(dataDir, { WEB_SERVER_CONCURRENCY: '16', SVC_DATABASE_POOL_SIZE: '10' }))
  t.ok(few >= 2 * (5 + 3 + 1 + 4) && few < 60)
  t.ok(many >= 17 * (10 + 5 + 1 + 4))
})

t.test('only messages of the known shapes are accepted', async (t) => {
  t.ok(isSupervisorMessage(START))
  t.ok(isSupervisorMessage({ type: 'stop' }))
  t.ok(isSupervisorMessage({ type: 'line', line: '{}' }))
  t.notOk(isSupervisorMessage({ type: 'line' }))
  t.ok(isProcessMessage({ type: 'alive', busy: 0.1 }))
  for (const message of [null, 'stop', {}, { type: 'start' }, { ...START, port: '1' }]) t.notOk(isSupervisorMessage(message))
  for (const message of [null, { type: 'ready' }, { type: 'failed', message: 1 }]) t.notOk(isProcessMessage(message))
})

/** Creates a slot whose process runs this program. */
function createSlot (t: Test, program: string, events: Pick<SlotOptions, 'onReady'> & Partial<SlotOptions>): Slot {
  const folder = t.testdir({ 'child.mjs': program })
  return new Slot({
    name: 'test',
    log: silent,
    fork: () => fork(join(folder, 'child.mjs')),
    onStartImpossible: (message) => { t.fail(message) },
    ...events
  })
}

t.test('a slot replaces its dead process, but not after it was stopped', async (t) => {
  const pids: (number | undefined)[] = []
  let ready = Promise.withResolvers<void>()
  const slot = createSlot(t, `process.on('message', (message) => {
    if (message.type === 'stop') process.exit(0)
    process.send({ type: 'ready', setup_code: null, has_pages: true, installed: {}, plugins: [] })
  })`, { onReady: () => { ready.resolve() } })
  slot.start(START)
  await ready.promise
  pids.push(slot.pid)
  ready = Promise.withResolvers<void>()
  slot.kill()
  await ready.promise
  pids.push(slot.pid)
  t.not(pids[0], pids[1])
  await slot.stop()
  t.equal(slot.pid, undefined)
})

t.test('a slot whose process rests starts one again, which learns of the rest', async (t) => {
  let [ready, rested] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()]
  const slot = createSlot(t, `process.on('message', (message) => {
    if (message.type === 'stop') process.exit(0)
    if (message.type === 'rest') setTimeout(() => { process.exit(0) })
    if (message.type === 'start') {
      const pages = message.woken_after_ms !== null
      process.send({ type: 'ready', setup_code: null, has_pages: pages, installed: {}, plugins: [] })
    }
  })`, {
    onReady: (message) => { ready.resolve(message.has_pages) },
    onRest: () => { rested.resolve() },
    onLost: () => { t.fail('the process was lost') }
  })
  slot.start(START)
  t.equal(await ready.promise, false)
  t.equal(slot.wake(), false, 'it does not rest')
  slot.rest()
  await rested.promise
  t.equal(slot.isResting, true)
  ready = Promise.withResolvers<boolean>()
  t.equal(slot.wake(), true)
  t.equal(await ready.promise, true)
  ;[ready, rested] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()]
  slot.rest()
  slot.wake()
  await rested.promise
  t.equal(await ready.promise, true, 'a process that is about to rest is replaced')
  t.equal(slot.isResting, false)
  await slot.stop()
})

t.test('an optional process that cannot start any more is tried again until it can', async (t) => {
  const folder = t.testdir({
    'child.mjs': `import { existsSync } from 'node:fs'
    process.on('message', ({ type }) => {
      if (type === 'stop') process.exit(0)
      if (type !== 'start') return
      if (existsSync(process.argv[2])) process.send({ type: 'failed', message: 'broken', exit_code: 3 }, () => process.exit(1))
      else process.send({ type: 'ready', setup_code: null, has_pages: false, installed: {}, plugins: [] })
    })`
  })
  const broken = join(folder, 'broken')
  for (const isOptional of [true, false]) {
    const logged = Promise.withResolvers<unknown>()
    let [ready, impossible] = [Promise.withResolvers<void>(), [] as unknown[]]
    const slot = new Slot({
      name: 'test',
      isOptional,
      log: pino({ level: 'error' }, { write (line) { if (line.includes('cannot start')) logged.resolve(JSON.parse(line)) } }),
      fork: () => fork(join(folder, 'child.mjs'), [broken]),
      onReady: () => { ready.resolve() },
      onStartImpossible: (...facts) => {
        impossible = facts
        logged.resolve(null)
      }
    })
    slot.start(START)
    await ready.promise
    ready = Promise.withResolvers<void>()
    writeFileSync(broken, '')
    slot.kill()
    if (isOptional) t.match(await logged.promise, { process: 'test', reason: 'broken' })
    else t.equal(await logged.promise, null)
    t.same(impossible, isOptional ? [] : ['broken', 3])
    rmSync(broken)
    await ready.promise
    await slot.stop()
  }
})

t.test('a slot replaces a process that fails while it ends for a rest', async (t) => {
  let ready = Promise.withResolvers<void>()
  const slot = createSlot(t, `process.on('message', (message) => {
    if (message.type === 'stop') process.exit(0)
    if (message.type === 'rest') process.exit(1)
    if (message.type === 'start') process.send({ type: 'ready', setup_code: null, has_pages: false, installed: {}, plugins: [] })
  })`, { onReady: () => { ready.resolve() } })
  slot.start(START)
  await ready.promise
  ready = Promise.withResolvers<void>()
  slot.rest()
  await ready.promise
  t.equal(slot.isResting, false)
  await slot.stop()
})

t.test('a slot reports the load of its process only once it is ready', async (t) => {
  const folder = t.testdir({
    'child.mjs': `process.on('message', (message) => {
      if (message.type === 'stop') process.exit(0)
      if (message.type === 'line') process.send({ type: 'failed', message: '', exit_code: 0 })
      else process.send({ type: 'ready', setup_code: null, has_pages: true, installed: {}, plugins: [] })
    })
    process.send({ type: 'alive', busy: 0.5 })`
  })
  const ready = Promise.withResolvers<void>()
  const heard = Promise.withResolvers<void>()
  const slot = new Slot({
    name: 'test',
    log: silent,
    fork: () => {
      const child = fork(join(folder, 'child.mjs'))
      child.once('message', () => { setImmediate(heard.resolve) })
      return child
    },
    onReady: () => { ready.resolve() },
    onStartImpossible: (message) => { t.fail(message) }
  })
  slot.startProcess()
  await heard.promise
  t.equal(slot.busy, 0)
  slot.start(START)
  await ready.promise
  t.equal(slot.busy, 0.5)
  await slot.stop()
  t.equal(slot.busy, 0)
})

t.test('a web worker is added if all were busy twice and a processor was idle', (t) => {
  let [busy, idleMs, grown]: [number[], number, number] = [[], 0, 0]
  const look = createGrowth({ listBusy: () => busy, readIdleMs: () => idleMs, grow: () => { grown++ } })
  let seconds = 0
  /** Simulates five seconds in which processors were idle for so many of them. */
  const pass = (shares: number[], idleSeconds: number) => {
    busy = shares
    idleMs += idleSeconds * 1_000
    look(1_000 * (seconds += 5))
    return grown
  }
  t.equal(pass([0.9, 0.8], 5), 0, 'once')
  t.equal(pass([0.9, 0.8], 5), 1, 'twice')
  t.equal(pass([0.9, 0.8], 5), 1, 'it takes two again')
  t.equal(pass([0.9, 0.8, 0], 5), 1, 'the new one is there and has nothing to do')
  t.equal(pass([0.9, 0.8, 0.9], 5), 1)
  t.equal(pass([0.9, 0.8, 0.9], 1), 1, 'the processors are all taken')
  t.equal(pass([0.9, 0.8, 0.9], 5), 2, 'one is free')
  pass([0.9, 0.9], 5)
  pass([0.9, 0.2], 5)
  t.equal(pass([0.9, 0.9], 5), 2, 'not in a row')
  t.end()
})

t.test('a silent process is killed after a minute, a starting one after five', async (t) => {
  const folder = t.testdir({
    'child.mjs': `process.on('message', (message) => {
      if (message.type === 'stop') process.exit(0)
      if (message.worker_number === 1) process.send({ type: 'ready', setup_code: null, has_pages: true, installed: {}, plugins: [] })
    })
    process.send({ type: 'alive', busy: 0 })`
  })
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => { mock.timers.reset() })
  for (const [isReady, minutes] of [[true, 1], [false, 5]] as const) {
    const said = Promise.withResolvers<void>()
    const lost = Promise.withResolvers<void>()
    const slot = new Slot({
      name: 'test',
      log: silent,
      fork: () => {
        const child = fork(join(folder, 'child.mjs'))
        if (!isReady) child.once('message', () => { said.resolve() })
        return child
      },
      onReady: () => { said.resolve() },
      onStartImpossible: (message) => { t.fail(message) },
      onLost: () => { lost.resolve() }
    })
    slot.start({ ...START, worker_number: isReady ? 1 : 0 })
    await said.promise
    const first = slot.pid
    mock.timers.tick(minutes * 60_000 - 1)
    t.equal(slot.pid, first, `${minutes} min`)
    t.ok(first !== undefined && isAlive(first))
    slot.pause()
    mock.timers.tick(5_000)
    await lost.promise
    await slot.stop()
  }
})

t.test('a line of the supervisor\'s log goes only to a process that is ready', async (t) => {
  const folder = t.testdir({
    'child.mjs': `process.on('message', (message) => {
      if (message.type === 'start') process.send({ type: 'ready', setup_code: null, has_pages: true, installed: {}, plugins: [] })
      if (message.type === 'line') process.send({ type: 'failed', message: message.line, exit_code: 0 })
      if (message.type === 'stop') process.exit(0)
    })`
  })
  const [ready, said] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  const slot = new Slot({
    name: 'test',
    log: silent,
    fork: () => fork(join(folder, 'child.mjs')),
    onReady: () => { ready.resolve() },
    onStartImpossible: (message) => { said.resolve(message) }
  })
  t.equal(slot.forwardLine('too early'), false)
  slot.start(START)
  t.equal(slot.forwardLine('still too early'), false)
  await ready.promise
  t.equal(slot.forwardLine('in time'), true)
  t.equal(await said.promise, 'in time')
  await slot.stop()
  t.equal(slot.forwardLine('too late'), false)
})

t.test('a process that can never start is reported with its reason', async (t) => {
  const folder = t.testdir({
    'child.mjs': `process.once('message', () => {
      process.send({ type: 'failed', message: 'Port taken', exit_code: 3 }, () => process.disconnect())
    })`
  })
  const reported = Promise.withResolvers<unknown>()
  const slot = new Slot({
    name: 'test',
    log: silent,
    isOptional: true,
    fork: () => fork(join(folder, 'child.mjs')),
    onReady: () => { t.fail('it did not start') },
    onStartImpossible: (...reason) => { reported.resolve(reason) }
  })
  slot.start(START)
  t.same(await reported.promise, ['Port taken', 3])
  await slot.stop()
})

t.test('the banner shows addresses, folders, plugins and the next steps', async (t) => {
  const config = configOf(join(t.testdir({}), 'data'), { SVC_BASE_URL: 'https://home.example/games' })
  const plugin = { key: 'igdb', name: 'IGDB', package: 'p', version: '1', origin: 'built-in', kind: 'provider' } as const
  const facts = { config, port: 8080, isEmbedded: true, setupCode: 'abcDEF123456', hasPages: true }
  const text = renderBanner({
    ...facts,
    plugins: [{ ...plugin, status: 'disabled', reason: 'set IGDB_CLIENT_ID' },
      { ...plugin, key: 'libretro', status: 'active', reason: null }]
  })
  t.match(text, 'https://home.example/games (here: http://localhost:8080/games)')
  t.match(text, '1 active: provider libretro')
  t.match(text, '1 off: provider igdb\n')
  t.match(text, /why: node .*core\/svc.js .*plugins/)
  t.match(text, commandLine(config, 'user', 'add', 'NAME', '--admin'))
  t.match(text, 'setup code abcDEF123456')
  t.match(commandLine(config, 'start'), `--data-dir ${config.data_dir} start`)
  t.match(text, 'in a browser')
  const withoutPages = renderBanner({ ...facts, hasPages: false, plugins: [] })
  t.notMatch(withoutPages, 'browser', 'without the console there is no page to open')
  t.match(withoutPages, 'setup code abcDEF123456')
  t.notMatch(renderBanner({ ...facts, setupCode: null, plugins: [] }), 'administrator')
  t.equal(listenUrl(configOf(config.data_dir, { SVC_HOST: '::1' }), 80), 'http://[::1]:80')
})
