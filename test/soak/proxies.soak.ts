import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { type Socket, io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { tryFetch } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

// Tests the proxies of examples/self-host with their exact files, in which only the two addresses are replaced. The
// programs are searched on the PATH; SOAK_PROXIES names a folder with an unpacked Debian package.

const EXAMPLES = join(SERVER_DIR, 'examples', 'self-host')
/** The base URL has a path, which every proxy must preserve. */
const PREFIX = '/games'
const VISITOR = '127.0.0.5'
const SPOOFED = '203.0.113.9'
const UPLOAD_CHUNKS = 300
const CHUNK = Buffer.alloc(1024 * 1024, 'svc')
/** Duration of an upload for which a stop must wait; longer than the limit for other requests. */
const SLOW_UPLOAD_MS = 14_000
/** The folder of Debian's Apache modules and of the programs. */
const UNPACKED = process.env.SOAK_PROXIES ?? '/'
const PROGRAMS = [...(process.env.PATH ?? '').split(delimiter), ...['usr/sbin', 'usr/bin'].map((folder) => join(UNPACKED, folder))]

interface Proxy {
  name: string
  program: string
  file: string
  /** Pattern and replacement of the port in the file. */
  port: [RegExp, (port: number) => string]
  args (file: string, folder: string): string[]
}

const PROXIES: Proxy[] = [
  {
    name: 'nginx',
    program: 'nginx',
    file: 'nginx.conf',
    port: [/listen 80;/g, (port) => `listen ${port};`],
    args: (file, folder) => ['-c', file, '-e', 'stderr', '-g', `daemon off; pid ${join(folder, 'nginx.pid')};`]
  },
  { name: 'HAProxy', program: 'haproxy', file: 'haproxy.cfg', port: [/bind :80\n/g, (port) => `bind :${port}\n`], args: (file) => ['-db', '-f', file] },
  {
    name: 'Apache',
    program: 'apache2',
    file: 'apache.conf',
    port: [/(?<=Listen |\*:)80\b/g, String],
    args: (file, folder) => ['-X', '-d', join(UNPACKED, 'usr', 'lib', 'apache2'), '-f', file,
      '-C', `PidFile ${join(folder, 'apache.pid')}`, '-C', `DefaultRuntimeDir ${folder}`]
  },
  { name: 'Caddy', program: 'caddy', file: 'Caddyfile', port: [/^:80 /gm, (port) => `:${port} `], args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'] }
]

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
const library = join(folder, 'library')
await mkdir(join(library, 'roms', 'snes'), { recursive: true })
await writeFile(join(library, 'roms', 'snes', 'Game.sfc'), 'game')
await writeFile(join(library, 'roms', 'snes', 'gamelist.xml'),
  '<gameList><game><path>./Game.sfc</path><name>Game</name><image>./media/Game.png</image></game></gameList>')
await mkdir(join(library, 'roms', 'snes', 'media'))
await sharp({ create: { width: 300, height: 400, channels: 3, background: 'red' } }).png()
  .toFile(join(library, 'roms', 'snes', 'media', 'Game.png'))
// The user of the proxy must be able to read its file.
const proxyFolder = await mkdtemp(join(tmpdir(), 'svc-proxy-'))
t.teardown(async () => {
  for (const made of [folder, proxyFolder]) await rm(made, { recursive: true, force: true })
})

const findProgram = (name: string) => PROGRAMS.map((place) => join(place, name)).find((path) => existsSync(path))

async function startProxy (
  t: Test, proxy: Proxy, program: string, server: SoakServer, change = (text: string) => text
): Promise<string> {
  const port = await freePort()
  const [pattern, toText] = proxy.port
  const text = readFileSync(join(EXAMPLES, proxy.file), 'utf8')
  t.match(text, pattern, 'the file names the port')
  t.match(text, 'svc:8080', 'and the server')
  const file = join(proxyFolder, `${port}-${proxy.file}`)
  await writeFile(file, change(text.replace(pattern, () => toText(port)).replaceAll('svc:8080', new URL(server.url).host)))
  const libraries = join(dirname(dirname(program)), 'lib', 'x86_64-linux-gnu')
  // The log is a file, because a proxy cannot open a pipe of Node by its name.
  const logFile = `${file}.log`
  const log = await open(logFile, 'w')
  const child: ChildProcess = spawn(program, proxy.args(file, proxyFolder), {
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: libraries, HOME: proxyFolder }, stdio: ['ignore', log.fd, log.fd]
  })
  const said = () => readFileSync(logFile, 'utf8')
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
    await log.close()
  })
  const url = `http://127.0.0.1:${port}${PREFIX}`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${proxy.name} ended with ${child.exitCode}:\n${said()}`)
    return (await tryFetch(`${url}/api/heartbeat`))?.status === 200
  }, `${proxy.name} to answer`, { output: said, ms: WAIT_MS })
  return url
}

async function connect (t: Test, url: string, transports: ('polling' | 'websocket')[]): Promise<Socket> {
  const { origin, pathname } = new URL(url)
  const socket = io(origin, { path: `${pathname}/ws/socket.io`, transports, forceNew: true })
  t.teardown(() => { socket.disconnect() })
  await until(async () => socket.connected, 'a connected socket', { ms: WAIT_MS, output: () => '' })
  return socket
}

interface Problem { kind: string, subject: string, lines: string[] }

async function problemsOf (server: SoakServer): Promise<Problem[]> {
  const answer = await fetch(`${server.url}/api/health`, { headers: { authorization: AUTHORIZATION } })
  return ((await answer.json()) as { problems: Problem[] }).problems
}

/** Starts a form with one file, as a browser sends it; the caller writes the body. */
function startUpload (url: string, platform: number, name: string) {
  const boundary = 'svc-soak-boundary'
  const request = sendRequest(`${url}/api/firmware?platform_id=${platform}`, {
    method: 'POST', headers: { authorization: AUTHORIZATION, 'content-type': `multipart/form-data; boundary=${boundary}` }
  })
  request.write(`--${boundary}\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n')
  const answered = once(request, 'response').then(async ([response]: unknown[]) => {
    const { statusCode: status } = response as IncomingMessage
    const chunks: Buffer[] = []
    for await (const chunk of response as IncomingMessage) chunks.push(chunk as Buffer)
    return { status, body: Buffer.concat(chunks).toString() }
  })
  answered.catch(() => { /* the code that awaits it handles it */ })
  return { request, answered, finish: () => request.end(`\r\n--${boundary}--\r\n`) }
}

/** Returns the size of all files in the library, including running uploads. */
const libraryBytes = () => readdirSync(library, { recursive: true, encoding: 'utf8' })
  .reduce((bytes, path) => bytes + (statSync(join(library, path), { throwIfNoEntry: false })?.size ?? 0), 0)

/** Reads a response to its end, because Apache stops only after it has sent a started response. */
async function fetchWhole (url: string | URL) {
  const answer = await fetch(url)
  await answer.arrayBuffer()
  return { status: answer.status, type: answer.headers.get('content-type') }
}

/** Checks sign-in, pages, their files and the document: all are below the path and refer to it. */
async function checkPath (t: Test, url: string): Promise<void> {
  const { origin } = new URL(url)
  const login = await fetch(`${url}/api/login`, { method: 'POST', headers: { authorization: AUTHORIZATION } })
  t.equal(login.status, 200)
  const cookies = login.headers.getSetCookie()
  t.equal(cookies.length, 2)
  for (const cookie of cookies) t.match(cookie, `; Path=${PREFIX}/;`)
  for (const page of ['', '/api/docs', '/api/redoc', '/pair/device']) {
    const answer = await fetch(`${url}${page}`, { headers: { accept: 'text/html' } })
    t.equal(answer.status, 200, page)
    const html = await answer.text()
    const base = new URL(/<base href="([^"]+)"/.exec(html)?.[1] ?? '', answer.url)
    const named = html.matchAll(/(?:src|href)="([^"]+\.[^"]+|[^"]*\/api\/\w+)"/g)
    const addresses = [...named].map(([, address = '']) => new URL(address, base))
    t.ok(addresses.length > 1, `${page} loads something`)
    for (const address of addresses) {
      t.ok(address.pathname.startsWith(`${PREFIX}/`), `${page} names ${address.pathname}`)
      t.equal((await fetchWhole(address)).status, 200, `${page} loads ${address.pathname}`)
    }
  }
  const document = await (await fetch(`${url}/openapi.json`)).json() as { servers: unknown }
  t.same(document.servers, [{ url: PREFIX }])
  const { items: [rom] } = await (await fetch(`${url}/api/roms`, { headers: { authorization: AUTHORIZATION } })).json() as
    { items: { path_cover_small: string }[] }
  t.match(await fetchWhole(`${origin}${PREFIX}${rom?.path_cover_small}`), { status: 200, type: /^image\// }, 'the cover')
}

async function findPlatform (server: SoakServer): Promise<number> {
  const scan = await server.scan()
  const isOver = async () => (await server.look(scan))?.ended_at instanceof Date
  await until(isOver, 'the end of the scan', { ...server.command, ms: WAIT_MS })
  return await until(async () => (await server.query<{ id: number }>('select id from platforms'))?.[0]?.id, 'a platform', {
    ...server.command, ms: WAIT_MS
  })
}

t.test('each proxy works with its example file', async (t) => {
  const server = await startServer(t, join(folder, 'data'), library, {
    // Any host of the base URL works, because only the address in use is tested.
    SVC_BASE_URL: `http://127.0.0.1${PREFIX}`, SVC_TRUSTED_PROXIES: '127.0.0.1', WEB_SERVER_CONCURRENCY: '2'
  })
  const platform = await findPlatform(server)

  for (const proxy of PROXIES) {
    const program = findProgram(proxy.program)
    await t.test(proxy.name, { skip: program === undefined && `there is no ${proxy.program} on this machine` }, async (t) => {
      const url = await startProxy(t, proxy, program ?? '', server)

      const socket = await connect(t, url, ['websocket'])
      t.equal(socket.io.engine.transport.name, 'websocket')
      const upgraded = await connect(t, url, ['polling', 'websocket'])
      await until(async () => upgraded.io.engine.transport.name === 'websocket', 'the upgrade', { ...server.command, ms: WAIT_MS })
      t.same(await problemsOf(server), [])

      const { request, answered, finish } = startUpload(url, platform, `${proxy.program}.bin`)
      const sum = createHash('sha1')
      const before = libraryBytes()
      for (let count = 0; count < UPLOAD_CHUNKS; count++) {
        sum.update(CHUNK)
        if (!request.write(CHUNK)) await once(request, 'drain')
      }
      // A proxy that buffers the body would have forwarded nothing at this point.
      const arrived = UPLOAD_CHUNKS / 2 * CHUNK.length
      await until(() => libraryBytes() - before > arrived, 'an upload that goes on as it comes', { ...server.command, ms: WAIT_MS })
      finish()
      const { status, body } = await answered
      t.equal(status, 200, body)
      const [stored] = await server.query<{ id: number, sha1_hash: string }>(
        'select id, sha1_hash from firmware where file_name = $1', [`${proxy.program}.bin`]) ?? []
      t.equal(stored?.sha1_hash, sum.digest('hex'))
      const download = await fetch(`${url}/api/firmware/${stored?.id}/content/x`, { headers: { authorization: AUTHORIZATION } })
      let bytes = 0
      for await (const chunk of download.body ?? []) bytes += (chunk as Uint8Array).length
      t.equal(bytes, UPLOAD_CHUNKS * CHUNK.length)
      const etag = download.headers.get('etag') ?? ''
      const part = await fetch(download.url, { headers: { authorization: AUTHORIZATION, range: `bytes=${bytes - 4}-`, 'if-range': etag } })
      t.match({ status: part.status, range: part.headers.get('content-range') },
        { status: 206, range: `bytes ${bytes - 4}-${bytes - 1}/${bytes}` })
      t.equal(await part.text(), CHUNK.subarray(-4).toString())
      await checkPath(t, url)

      const guess = sendRequest(`${url}/api/login`, {
        method: 'POST',
        localAddress: VISITOR,
        headers: { authorization: `Basic ${Buffer.from(`${proxy.program}:wrong`).toString('base64')}`, 'x-forwarded-for': SPOOFED, 'x-forwarded-host': 'evil.example' }
      }).end()
      const [refused] = await once(guess, 'response') as [IncomingMessage]
      t.equal(refused.resume().statusCode, 401)
      const lineOf = () => server.command.output().split('\n').find((line) => line.includes('sign-in failed') && line.includes(`"${proxy.program}"`))
      await until(async () => lineOf(), 'the line in the log', { ...server.command, ms: WAIT_MS })
      t.match(lineOf(), `"address":"${VISITOR}"`)
      t.notMatch(lineOf(), SPOOFED)
    })
  }

  await t.test('a proxy that forwards no upgrades is reported, and sockets poll', async (t) => {
    const [proxy] = PROXIES
    const program = findProgram('nginx')
    if (proxy === undefined || program === undefined) return t.comment('there is no nginx on this machine')
    const url = await startProxy(t, proxy, program, server, (text) => text.replace(/^.*(?:Upgrade \$|Connection \$).*$/gm, ''))
    const socket = await connect(t, url, ['polling', 'websocket'])
    const problems = await until(async () => {
      const found = await problemsOf(server)
      return found.length > 0 && found
    }, 'the problem', { ...server.command, ms: WAIT_MS })
    t.match(problems, [{ kind: 'upgrade_missing', subject: '127.0.0.1' }])
    t.ok(problems[0]?.lines.some((line) => line.includes('proxy_set_header Upgrade')))
    t.equal(socket.io.engine.transport.name, 'polling')
  })
  await server.stop()
})

t.test(`a stop waits for an upload of ${SLOW_UPLOAD_MS / 1000} s and refuses new connections`, async (t) => {
  const server = await startServer(t, join(folder, 'data'), library)
  const platform = await findPlatform(server)
  const { request, answered, finish } = startUpload(server.url, platform, 'slow.bin')
  await new Promise<void>((resolve) => { request.write(CHUNK, () => { resolve() }) })
  // The answer to a later request proves that the upload has arrived too.
  await until(async () => (await tryFetch(`${server.url}/api/heartbeat`))?.status === 200, 'the server', server.command)
  server.command.child.kill('SIGTERM')
  await until(async () => await tryFetch(`${server.url}/api/heartbeat`) === null, 'a closed door', { ...server.command, ms: WAIT_MS })
  const end = performance.now() + SLOW_UPLOAD_MS
  while (performance.now() < end) {
    request.write(CHUNK)
    await sleep(500)
  }
  finish()
  const { status, body } = await answered
  t.equal(status, 200, body)
  const { code } = await server.command.ended
  t.equal(code, 0)
})
