import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import t from 'tap'
import { AddressRefusedError } from '../../core/http/addresses.ts'
import { LoadError } from '../../core/loader/load-error.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { startServer } from '../core/http/server.ts'
import { createMemoryServices } from './memory-services.ts'
import { load } from './process-support.ts'
import { APART, config, install, scopeOf, startTroublemaker } from './troublemaker.ts'

const troublemaker = await startTroublemaker(t)

t.test('results, errors and inputs are the same as in the server itself', async (t) => {
  const { tell } = troublemaker
  t.equal(await tell('answer with words'), 'with words')
  await t.rejects(tell('limited'), new RateLimitedError('slower, please', 1_234))
  const error: unknown = await tell('limited').catch((err: unknown) => err)
  t.ok(error instanceof RateLimitedError)
  t.equal(await tell('cache kept'), 'kept')
  const scope = { ...scopeOf(), found: new Map([['igdb', { id: 7 }]]), options: { deep: true } }
  t.same(JSON.parse(await tell('found igdb', scope)), [{ id: 7 }, config.scan.priority.region, { password: 'x' }, { deep: true }])
})

t.test('a memo is shared by all calls of a scan and by no others', async (t) => {
  const { tell } = troublemaker
  const scan = scopeOf()
  const made = await tell('memo', scan)
  t.equal(await tell('memo', { ...scan, signal: new AbortController().signal }), made)
  t.not(await tell('memo'), made)
})

t.test('a plugin reaches servers and library files only through its host', async (t) => {
  const body = 'x'.repeat(300_000)
  const { url } = await startServer(t, (request, response) => {
    response.end(request.url === '/json' ? '{"a":[1]}' : body)
  })
  const { tell, dataDir } = await startTroublemaker(t, (dataDir) => createMemoryServices({ password: 'x' }, dataDir, [url]))
  t.equal(await tell(`json ${url}/json`), '{"a":[1]}')
  t.equal(await tell(`request ${url}/json`), '200 {"a":[1]}')
  t.equal(await tell(`stream ${url}/long`), '300000')
  const error: unknown = await tell('json http://127.0.0.1:1/').catch((err: unknown) => err)
  t.ok(error instanceof AddressRefusedError, 'an error of the host comes back as it was thrown')
  writeFileSync(join(dataDir, 'a.txt'), 'some text')
  t.equal(await tell('files a.txt'), 'true a.txt,plugins some text')
})

t.test('texts of a plugin\'s errors are cut, and can be stored', async (t) => {
  const { tell } = troublemaker
  const message = "'a' + String.fromCharCode(0, 27, 0xd800) + 'b' + 'x'.repeat(1e6)"
  const error: unknown = await tell(`code throw new Error(${message})`).catch((err: unknown) => err)
  t.equal((error as Error).message.slice(0, 4), 'a\ufffdbx')
  t.ok((error as Error).message.length <= 10_000)
  const reason = new LoadError('failed', `set a\0\u001b\ud800b${'x'.repeat(1e6)}`).message
  t.equal(reason.slice(0, 8), 'set a\ufffdbx')
  t.ok(reason.length <= 2_000)
})

t.test('names of prototypes in messages change nothing in the server', async (t) => {
  const { url } = await startServer(t, (_request, response) => { response.end('{}') })
  const { tell } = await startTroublemaker(t, (dataDir) => createMemoryServices({ password: 'x' }, dataDir, [url]))
  const before = Object.getOwnPropertyNames(Object.prototype).join()
  await tell(`code const evil = JSON.parse('{"__proto__":{"spoilt":1},"constructor":{"prototype":{"spoilt":1}},"prototype":{"spoilt":1}}')
    const calls = [
      () => ctx.http.json('${url}/', evil), () => ctx.http.json('${url}/', { query: evil }), () => ctx.http.json('${url}/', { headers: evil }),
      () => ctx.http.request('${url}/', { method: 'POST', json: evil }), () => ctx.http.request('${url}/', { method: 'POST', form: evil }),
      () => ctx.cache.set('__proto__', evil), () => ctx.cache.set('evil', evil), () => ctx.cache.get('__proto__'),
      () => ctx.files.exists('__proto__'), () => ctx.index.getMany(['__proto__', 'constructor']),
      () => ctx.log.warn(evil, 'evil'), () => ctx.report(evil), () => ctx.explain(evil),
      () => ctx.http.setLimits(evil), () => ctx.http.setAllowance({ name: '__proto__', remaining: 1, ...evil })
    ]
    for (const call of calls) await Promise.resolve().then(call).catch(() => {})
    return 'done'`)
  const error: unknown = await tell("code throw Object.assign(new Error('x'), { name: '__proto__', code: '__proto__', status: 1 })")
    .catch((err: unknown) => err)
  t.ok(error instanceof Error)
  t.equal(Reflect.get({}, 'spoilt'), undefined)
  t.equal(Object.getOwnPropertyNames(Object.prototype).join(), before)
})

t.test('a plugin reads only its own files and dependencies, and no variable', async (t) => {
  const { dataDir, tell } = troublemaker
  const secret = join(dataDir, 'config.yml')
  writeFileSync(secret, 'password: secret')
  const other = join(dataDir, 'plugins', 'node_modules', 'svc-other')
  mkdirSync(other)
  writeFileSync(join(other, 'index.js'), '')
  for (const path of [secret, '/etc/passwd', `/proc/${process.pid}/environ`, join(other, 'index.js')]) {
    await t.rejects(tell(`read ${path}`), { code: 'ERR_ACCESS_DENIED' }, path)
  }
  const own = join(APART, 'troublemaker', 'package.json')
  t.equal(await tell(`read ${own}`), readFileSync(own, 'utf8'))
  t.equal(await tell('environment'), '{}')
})

t.test('a plugin process runs the stored code without types', async (t) => {
  const loader = join(SERVER_DIR, 'core', 'loader')
  const text = 'process.exit(42)'
  const entry = hash('sha256', readFileSync(join(loader, 'process', 'entry.ts')))
  const folder = t.testdir({ [entry]: hash('sha256', text) + text })
  const { execArgv } = process
  t.teardown(() => { process.execArgv = execArgv })
  process.execArgv = [`--import=${pathToFileURL(join(loader, 'packages', 'strip-hook.js')).href}?${new URLSearchParams({ folder }).toString()}`]
  await t.rejects(startTroublemaker(t), { message: /it ended with code 42/ })
})

t.test('a cancelled call ends with its reason, and the plugin is notified', async (t) => {
  const { tell, process: { pid } } = troublemaker
  const stop = new AbortController()
  const waiting = tell('wait', scopeOf(stop.signal))
  await setImmediate()
  stop.abort(new Error('the scan was cancelled'))
  await t.rejects(waiting, { message: 'the scan was cancelled' })
  t.equal(await tell('answer there'), 'there')
  t.equal(troublemaker.process.pid, pid, 'it answered and lives on')
})

t.test('an index build yields its batches one by one', async (t) => {
  const { process, open } = troublemaker
  const done: number[] = []
  const ctx = open({ ...scopeOf(), report: (progress) => { done.push(progress.done) } })
  const batches: unknown[] = []
  for await (const batch of process.call('index.build')(ctx) as AsyncIterable<unknown>) batches.push(batch)
  t.same(batches, [0, 1, 2].map((batch) => [[`key-${batch}`, { batch }]]))
  t.same(done, [0, 1, 2])
})

t.test('a crash fails running calls with ServiceDownError, and the plugin restarts', async (t) => {
  const { tell, untilBack, changes } = troublemaker
  for (const [deed, reason] of [['crash', /it ended with code 3/], ['timer', /out of the blue/]] as const) {
    const [other, crash] = await Promise.allSettled([tell('wait'), tell(deed)])
    for (const outcome of [other, crash]) {
      t.ok(outcome.status === 'rejected' && outcome.reason instanceof ServiceDownError, deed)
      t.match(outcome, { reason: { message: reason } })
    }
    t.match(changes.at(-1), reason)
    await untilBack()
    t.equal(await tell('answer here'), 'here')
  }
})

t.test('a Node version that cannot confine the plugin skips it with a reason', async (t) => {
  const { versions } = process
  t.teardown(() => { Object.defineProperty(process, 'versions', { value: versions }) })
  Object.defineProperty(process, 'versions', { configurable: true, value: { ...versions, node: '24.0.0' } })
  const { dataDir, packages } = install(t, ['troublemaker'], APART)
  const { records } = await load(t, dataDir, packages)
  t.match(records, [{ status: 'unsupported', reason: /^Node v24.* cannot isolate the process of a plugin.* start the server with Node >=24\.17\.0/ }])
})
