import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { mock } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { GLOBALS, MODULES, PROCESS } from '../../core/loader/process/allowed.ts'
import { EXPOSE_INTERNALS } from '../../core/loader/process/bindings.ts'
import { listReadable } from '../../core/loader/process/folders.ts'
import { createMessageLimits } from '../../core/loader/process/message-limits.ts'
import { canConfine } from '../../core/loader/process/node-level.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { startTroublemaker } from './troublemaker.ts'

/** Modules of Node that plugins must not import. Add each new module of Node here or to `MODULES`. */
const REFUSED = [
  '_http_agent', '_http_client', '_http_common', '_http_incoming', '_http_outgoing', '_http_server', '_stream_duplex',
  '_stream_passthrough', '_stream_readable', '_stream_transform', '_stream_wrap', '_stream_writable', '_tls_common', '_tls_wrap',
  'child_process', 'cluster', 'dgram', 'dns', 'dns/promises', 'domain', 'http', 'http2', 'https', 'inspector', 'inspector/promises',
  'net', 'repl', 'sea', 'sqlite', 'test', 'test/reporters', 'tls', 'trace_events', 'v8', 'vm', 'wasi', 'worker_threads'
]
const known = new Set([...builtinModules.map((name) => name.replace(/^node:/, '')), ...REFUSED])

const plugin = await startTroublemaker(t)
/** Runs code in the plugin's process, as the plugin. */
const run = (code: string) => plugin.tell(`code ${code}`)

t.test('each module of Node is either allowed to plugins or refused', async (t) => {
  const undecided = [...known].filter((name) => !(name in MODULES) && !REFUSED.includes(name))
  t.same(undecided, [], 'list new modules in MODULES of core/loader/process/allowed.ts, or in REFUSED here')
  t.same(REFUSED.filter((name) => name in MODULES), [])
})

t.test('every loader refuses a refused module', async (t) => {
  const WAYS: Record<string, (name: string) => string> = {
    import: (name) => `return await import('${name}')`,
    'static import': (name) => `return await import('data:text/javascript,import * as x from "${name}"; export default x')`,
    'import in a function': (name) => `return await Function('return import("${name}")')()`,
    require: (name) => `return require('${name}')`,
    createRequire: (name) => `return require('module').createRequire('/')('${name}')`,
    'Module._load': (name) => `return require('module')._load('${name}')`,
    'Module.prototype.require': (name) => `return require('module').prototype.require.call(module, '${name}')`,
    'Module._resolveFilename': (name) => "const { Module } = require('module'); const before = Module._resolveFilename; " +
      `Module._resolveFilename = () => '${name}'; try { return require('./x') } finally { Module._resolveFilename = before }`,
    'methods of strings and sets': (name) => 'const { startsWith } = String.prototype; const { has } = Set.prototype; ' +
      `String.prototype.startsWith = () => false; Set.prototype.has = () => true; try { return await import('${name}') } finally { ` +
      'String.prototype.startsWith = startsWith; Set.prototype.has = has }',
    'process.getBuiltinModule': (name) => `return process.getBuiltinModule('${name}')`,
    'process.binding': (name) => `return process.binding('${name}')`
  }
  for (const name of REFUSED.map((name) => `node:${name}`)) {
    for (const [way, code] of Object.entries(WAYS)) {
      // Returns only the type, because a module cannot be sent.
      await t.rejects(run(`const found = await (async () => { ${code(name)} })(); return typeof found`), Error, `${name} by ${way}`)
    }
  }
  await t.rejects(run("return await import('net')"), { message: /^A plugin may not import 'node:net'.* use ctx\.http/ })
})

t.test('an allowed module has the listed members only', async (t) => {
  for (const [name, members] of Object.entries(MODULES)) {
    const found = JSON.parse(await run(`return JSON.stringify(Object.keys(require('node:${name}')))`)) as string[]
    if (members !== null) t.same(found.filter((member) => !members.includes(member)), [], name)
    t.ok(found.length > 0, name)
  }
  const written = await run("const fs = await import('node:fs'); return [fs.writeFileSync, fs.promises.writeFile, fs.default.openAsBlob].join()")
  t.equal(written, ',,', 'also as they are imported')
})

t.test('a plugin cannot replace the hooks that refuse modules', async (t) => {
  t.equal(await run("const { Module } = require('module'); return [Module.registerHooks, Module.register, " +
    'Module.prototype.constructor.registerHooks].join()'), ',,')
  await t.rejects(run("const { registerHooks } = await import('node:module'); registerHooks({})"))
})

t.test('a plugin cannot take the hooks out of the chain that Node builds of them', async (t) => {
  const caught = `const evil = (name) => () => ({ url: 'node:' + name, format: 'builtin', shortCircuit: true, source: null, filename: name })
    const isChain = (list) => list.length === 2 && typeof list[0] === 'function' && list[0].name === 'nextStep'
    const load = (name) => {
      Object.defineProperty(Array.prototype, 1, {
        configurable: true,
        get () { return isChain(this) ? evil(name) : undefined },
        set (value) {
          if (typeof value === 'function' && value.name === 'nextStep') return
          Object.defineProperty(this, 1, { value, writable: true, enumerable: true, configurable: true })
        }
      })
      try { return require('./any') } finally { delete Array.prototype[1] }
    }
    `
  for (const name of ['net', 'v8', 'vm', 'internal/test/binding']) {
    await t.rejects(run(`${caught} return Object.keys(load('${name}')).join()`), /not extensible/, name)
  }
  await t.rejects(run('Array.prototype.constructor = class extends Array {}'), /read only/)
  await t.rejects(run('Promise.prototype.then = () => {}'), /read only/)
  await t.rejects(run('Promise.prototype.constructor = class extends Promise {}'), /read only/)
  t.equal(await run("return [class extends Array {}.from([1]).length, [1].concat([2]).length, await Promise.resolve('x').then((x) => x)].join()"), '1,2,x')
})

t.test('process has no signals, debugger, native code, descriptors or users', async (t) => {
  const gone = ['kill', '_kill', '_debugProcess', '_debugEnd', 'dlopen', 'execve', 'binding', '_linkedBinding', 'getBuiltinModule', 'chdir',
    'send', 'channel', '_channel', 'disconnect', '_getActiveHandles', '_getActiveRequests', 'report', 'setuid', 'setgid', 'setgroups',
    'initgroups', 'loadEnvFile', 'mainModule', 'setUncaughtExceptionCaptureCallback', 'openStdin', 'umask']
  t.equal(await run(`return ${JSON.stringify(gone)}.filter((name) => process[name] !== undefined)`), '')
  t.equal(await run('return Object.getOwnPropertySymbols(process).map(String).sort().join()'),
    'Symbol(Symbol.toStringTag),Symbol(kCapture),Symbol(shapeMode)')
  const found = JSON.parse(await run('return JSON.stringify(Object.getOwnPropertyNames(process))')) as string[]
  t.same(found.filter((name) => !PROCESS.includes(name)), [])
})

t.test('no global opens a connection', async (t) => {
  const found = JSON.parse(await run('return JSON.stringify(Object.getOwnPropertyNames(globalThis))')) as string[]
  t.same(found.filter((name) => !GLOBALS.includes(name)), ['fetch'])
  await t.rejects(run("await fetch('http://127.0.0.1:1/')"), { message: /may not call fetch.*use ctx\.http/ })
  t.equal(await run("return ['WebSocket', 'EventSource', 'Response', 'BroadcastChannel'].map((name) => typeof globalThis[name]).join()"),
    'undefined,undefined,undefined,undefined')
  t.equal(await run('return [WebAssembly.compileStreaming, WebAssembly.instantiateStreaming].join()'), ',')
  t.equal(await run("return Object.keys(globalThis[Symbol.for('undici.globalDispatcher.1')]).length"), '0')
})

t.test('a plugin that steals its channel cannot connect with its classes', async (t) => {
  const socketPath = join(plugin.dataDir, 'socket')
  let connections = 0
  const server = createServer(() => { connections++ })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  t.teardown(() => server.close())
  // The socket emits an event for each message that arrives.
  const steal = `const { EventEmitter } = require('events'); const { emit } = EventEmitter.prototype
    const stolen = await new Promise((resolve) => {
      EventEmitter.prototype.emit = function (...args) {
        if (this._handle) { EventEmitter.prototype.emit = emit; resolve(this) }
        return emit.apply(this, args)
      }
      ctx.cache.get('key')
    })
    const pipe = new stolen._handle.constructor(0)
    `
  t.equal(await run(`${steal} return ['connect', 'listen', 'bind', 'open', 'fchmod'].map((name) => typeof pipe[name]).join()`),
    Array.from({ length: 5 }, () => 'undefined').join())
  await t.rejects(run(`${steal} new stolen.constructor().connect(${JSON.stringify(socketPath)})`), { message: /connect is not a function/ })
  await t.rejects(run(`${steal} stolen.constructor.prototype.connect.call(new stolen.constructor(), 1)`))
  t.equal(connections, 0)
  t.equal(await plugin.tell('answer there'), 'there')
})

t.test('a plugin gets none of Node\'s internal objects by copies and setters', async (t) => {
  const copy = (target: string) => `const symbols = Object.getOwnPropertySymbols(Blob.prototype)
    const symbolOf = (name) => symbols.find(({ description }) => description.includes(name))
    const blob = new Blob(['x'])
    let caught
    blob[symbolOf('messaging_clone')] = () => ({ data: {}, deserializeInfo: 'internal/bootstrap/realm:BuiltinModule' })
    ${target}[symbolOf('messaging_deserialize')] = () => {}
    Object.defineProperty(${target}, 'filename', { configurable: true, set () { caught = this.constructor } })
    `
  const after = 'return typeof caught?.map?.get("internal/test/binding").compileForInternalLoader().internalBinding'
  await t.rejects(run(`${copy('Object.prototype')} try { structuredClone(blob) } catch {} ${after}`), /not extensible/)
  const copied = 'new (require("events").EventEmitter)().constructor.prototype'
  await t.rejects(run(`${copy(copied)} blob[symbolOf('messaging_clone')] = () => ({ data: {}, deserializeInfo: 'http:Agent' })
    structuredClone(blob)`), /cannot copy objects of Node's own classes/)
  t.equal(await run("return structuredClone(new Map([['a', [1]]])).get('a')[0]"), '1', 'plain data is copied as ever')
  for (const name of ['internal/test/binding', 'node:internal/test/binding', 'internal/bootstrap/realm', 'internal/util']) {
    await t.rejects(run(`return typeof require('${name}')`), Error, `require of ${name}`)
    await t.rejects(run(`return typeof await import('${name}')`), Error, `import of ${name}`)
  }
})

t.test('Node\'s native parts have nothing left that connects, signals or writes', async (t) => {
  const code = `
    import { createRequire } from 'node:module'
    import 'node:net'
    import { stripBindings } from ${JSON.stringify(pathToFileURL(join(SERVER_DIR, 'core/loader/process/bindings.ts')).href)}
    const { internalBinding } = createRequire('/')('internal/test/binding')
    const { TCP } = internalBinding('tcp_wrap')
    const { ChannelWrap } = internalBinding('cares_wrap')
    stripBindings()
    const left = ['connect', 'listen', 'bind', 'open'].map((name) => typeof TCP.prototype[name])
    const { _kill, _debugProcess } = internalBinding('process_methods')
    const { fchmod, futimes } = internalBinding('fs')
    const v8 = internalBinding('v8')
    const { CategorySet } = internalBinding('trace_events')
    process.stdout.write([...left, typeof ChannelWrap.prototype.queryA, typeof internalBinding('udp_wrap').UDP, typeof _kill,
      typeof _debugProcess, typeof fchmod, typeof futimes, typeof v8.setFlagsFromString, typeof CategorySet].join())`
  const { stdout } = await promisify(execFile)(process.execPath, ['--permission', '--allow-fs-read=*', EXPOSE_INTERNALS, '--disable-warning=ExperimentalWarning',
    '--input-type=module', '--eval', code])
  t.equal(stdout, Array.from({ length: 12 }, () => 'undefined').join())
})

t.test('no file is written or read outside by a gap of the permission model', async (t) => {
  const { dataDir } = plugin
  const secret = join(dataDir, 'secret.key')
  writeFileSync(secret, 'secret')
  const READS = [
    "require('fs').readFileSync(P)", "await require('fs/promises').readFile(P)", "require('fs').openSync(P)", "require('fs').statSync(P)",
    "(await require('fs').promises.open(P)).close()", "require('fs').opendirSync(P + '/..')", "require('fs').realpathSync.native(P)",
    "require('fs').readdirSync(P + '/..')", "require('fs').readFileSync(Buffer.from(P))", "require('fs').readFileSync(new URL('file://' + P))",
    "require('fs').readFileSync('../'.repeat(20) + P)", 'require(P)', 'await import(P)', 'process.loadEnvFile(P)',
    "require('crypto').createPrivateKey('file:' + P)", "require('module')._extensions['.js']({ _compile: (text) => { throw text } }, P)",
    "require('module').findPackageJSON(P)"
  ]
  for (const code of READS) {
    const outcome = await run(`const P = ${JSON.stringify(secret)}; return ${code}`).catch((err: unknown) => String(err))
    t.match(outcome, /Error|undefined/, code)
  }
  const file = join(dataDir, 'written')
  const WRITES = [
    "require('fs').writeFileSync(P, '')", "await require('fs/promises').writeFile(P, '')", "require('fs').createWriteStream(P)",
    "require('fs').openSync(P, 'w')", "await require('fs').promises.open(P, 'w')", "new (require('fs').WriteStream)(P)",
    'process.report.writeReport(P)', "require('module').enableCompileCache(P)"
  ]
  for (const code of WRITES) await run(`const P = ${JSON.stringify(file)}; return ${code}`).catch(() => {})
  t.notOk(existsSync(file))
  t.equal(readFileSync(secret, 'utf8'), 'secret')
})

t.test('a plugin does not learn whether a file outside its folders exists', async (t) => {
  const { dataDir } = plugin
  const secret = join(dataDir, 'secret.key')
  const WAYS = ['require.resolve(P)', "require('module')._stat(P)", "require('module')._findPath(P, [''], false)",
    "require('module').findPackageJSON('file://' + P)", "require('module').findPackageJSON('..', 'file://' + P + '/inner/index.js')",
    "require('module').findPackageJSON('package', P + '/inner/index.js')", "require('module').createRequire('/').resolve(P)", 'await import(P)',
    "require('fs').realpathSync(P)", "require('fs').realpathSync(Buffer.from(P))", "require('fs').realpathSync(new URL('file://' + P))",
    "require('fs').realpathSync.native(P)", "await require('fs').promises.realpath(P)",
    "await new Promise((resolve, reject) => require('fs').realpath(P, (err, path) => err ? reject(err) : resolve(path)))",
    "await new Promise((resolve, reject) => require('fs').realpath.native(P, (err, path) => err ? reject(err) : resolve(path)))",
    "require('fs').realpathSync(require('path').dirname(require.resolve('@svc/plugin-sdk')) + '/..'.repeat(20) + P)",
    "require('module')._stat(require('path').dirname(require.resolve('@svc/plugin-sdk')) + '/..'.repeat(20) + P)"]
  const foreign = join(dataDir, 'foreign')
  const linked = join(dataDir, 'linked')
  mkdirSync(join(foreign, 'node_modules', 'package'), { recursive: true })
  for (const folder of [foreign, join(foreign, 'node_modules', 'package')]) writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(secret, 'secret')
  symlinkSync(secret, linked)
  for (const path of [secret, linked, foreign, '/etc/passwd', '/etc']) {
    for (const way of WAYS) {
      const ask = async (P: string) => (await run(`const P = '${P}'; return ${way}`).catch(String)).replaceAll(P, '')
      t.equal(await ask(path), await ask(`${path}-missing`), `${way} of ${path}`)
    }
  }
  t.match(await run("return require.resolve('@svc/plugin-sdk')"), /sdk/)
  t.match(await run("return require('fs').realpathSync(require.resolve('@svc/plugin-sdk'))"), /sdk/)
})

t.test('a dependency is readable only where npm installs it', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-readable-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true }) })
  const modules = join(dataDir, 'plugins', 'node_modules')
  const write = (folder: string, dependencies: string[] = []) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({
      peerDependencies: Object.fromEntries(dependencies.map((name) => [name, '*']))
    }))
  }
  const folder = join(modules, 'svc-provider-climber')
  write(folder, ['beside', '@scope/beside', '../../../..', '../..', '.', '..', '@scope/../..', 'a/../../..', 'link', 'own'])
  write(join(modules, 'beside'), ['../../..'])
  write(join(modules, '@scope', 'beside'))
  write(join(folder, 'node_modules', 'own'))
  symlinkSync(dataDir, join(modules, 'link'))
  // A folder that an import from the plugin would search further up.
  write(join(dataDir, 'node_modules', 'above'))
  write(join(modules, 'beside', 'node_modules', 'nested'), ['above'])
  const pack = { folder, name: 'svc-provider-climber', version: null, manifest: undefined, entry: null, origin: 'community' as const, problem: null }
  const readable = await listReadable(pack)
  t.same(readable.filter((path) => path.startsWith(dataDir)).sort(),
    [join(modules, '@scope', 'beside'), join(modules, 'beside'), folder, join(folder, 'node_modules', 'own')].sort())
  const others = readable.filter((path) => !path.startsWith(dataDir))
  t.same(others.filter((path) => !path.startsWith(join(SERVER_DIR, 'node_modules') + sep) && !path.startsWith(join(SERVER_DIR, 'sdk'))),
    ['core/loader/process', 'core/loader/descriptor.ts', 'core/loader/settings/masked-log.ts', 'core/loader/calls/memo.ts',
      'core/http/mask.ts', 'core/http/response.ts', 'package.json'].map((path) => join(SERVER_DIR, path)))
})

t.test('what needs an answer is not asked without waiting for one', async (t) => {
  // { type: 'tell', method: 'cache.set', args: ['told', 1], scope: 0 }: outside the calls that are counted
  const told = `const text = (one) => [0x22, one.length, ...Buffer.from(one)]
    const body = Buffer.from([0xff, 15, 0x6f, ...text('type'), ...text('tell'), ...text('method'), ...text('cache.set'),
      ...text('args'), 0x41, 2, ...text('told'), 0x49, 2, 0x24, 0, 2, ...text('scope'), 0x49, 0, 0x7b, 4])
    const header = Buffer.alloc(4)
    header.writeUInt32BE(body.length)
    new process.stdout.constructor(3).write(Buffer.concat([header, body]))
    await ctx.cache.set('asked', 2)
    return [await ctx.cache.get('told'), await ctx.cache.get('asked')].join()`
  t.equal(await run(told), ',2')
})

t.test('a plugin asks for a bounded number of things at once', async (t) => {
  const many = 'const asked = await Promise.allSettled(Array.from({ length: 1200 }, () => ctx.files.stream("a")[Symbol.asyncIterator]().next())); ' +
    'return asked.filter(({ reason }) => /More than 1000 calls at once/.test(reason)).length > 0'
  t.equal(await run(many), 'true')
  t.equal(await plugin.tell('answer there'), 'there')
})

t.test('log lines above the rate are dropped, and their number is logged once', async (t) => {
  const lines: [number, string][] = []
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => { mock.timers.reset() })
  const allows = createMessageLimits((dropped, method) => { lines.push([dropped, method]) })
  const pass = (method: string, times: number) =>
    Array.from({ length: times }, () => allows(method)).filter(Boolean).length
  t.equal(pass('log', 1_500), 1_000)
  t.equal(pass('report', 10), 10)
  t.equal(pass('cache.get', 5_000), 5_000, 'calls have a limit of their own')
  mock.timers.tick(10_000)
  t.same(lines, [[500, 'log']])
  t.equal(pass('log', 10), 10)
  mock.timers.tick(10_000)
  t.same(lines, [[500, 'log']])
})

t.test('plugins run only on Node releases with a fixed permission model', async (t) => {
  t.same(['24.0.0', '24.16.0', '24.17.0', '24.21.0', '25.9.0', '26.3.0', '26.3.1', '27.0.0'].map(canConfine),
    [false, false, true, true, false, false, true, true])
})
