import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { tryFetch } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { createTestDatabase, overTcp } from '../support.ts'
import { until } from '../until.ts'
import { installDebian } from './install-debian.ts'
import { AUTHORIZATION, WAIT_MS, startServer } from './server.ts'
import { startGate } from './tcp-gate.ts'

// The server behind PgBouncer in transaction mode, with the settings of examples/cluster. The program is Debian's, from
// the PATH or from packages that are unpacked into SOAK_PROXIES.

/** Few connections for many requests, so that almost every transaction gets another session. */
const POOL_SIZE = 3
const REQUESTS = 300
const OUTAGE_MS = 8_000
const UNPACKED = process.env.SOAK_PROXIES ?? '/'

const folder = await mkdtemp(join(tmpdir(), 'svc-pgbouncer-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
await chmod(folder, 0o755)
const library = join(folder, 'library')
await mkdir(join(library, 'roms', 'snes'), { recursive: true })
for (let count = 1; count <= 50; count++) await writeFile(join(library, 'roms', 'snes', `Game ${count}.sfc`), `game ${count}`)

const findProgram = () => [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', join(UNPACKED, 'usr', 'sbin')]
  .map((place) => join(place, 'pgbouncer')).find((path) => existsSync(path))
await installDebian(['pgbouncer'], async () => findProgram() !== undefined)
const program = findProgram()

async function startPooler (databaseUrl: URL, databasePort: number): Promise<{ port: number, said (): string }> {
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const text = readFileSync(join(SERVER_DIR, 'examples', 'cluster', 'pgbouncer.ini'), 'utf8')
  const changes: [RegExp, string][] = [
    [/^svc = host=postgres port=5432 dbname=svc/m, `svc = host=127.0.0.1 port=${databasePort} dbname=${databaseUrl.pathname.slice(1)} ` +
      `user=${databaseUrl.username} password=${decodeURIComponent(databaseUrl.password)}`],
    [/^listen_addr = .*$/m, 'listen_addr = 127.0.0.1'],
    [/^listen_port = .*$/m, `listen_port = ${port}`],
    [/^auth_type = .*$/m, 'auth_type = any'],
    [/^auth_file = .*$/m, 'unix_socket_dir ='],
    [/^default_pool_size = .*$/m, `default_pool_size = ${POOL_SIZE}`]
  ]
  for (const [pattern] of changes) t.match(text, pattern, 'the example has the setting')
  await writeFile(file, changes.reduce((changed, [pattern, to]) => changed.replace(pattern, () => to), text))
  const child = spawn(program ?? '', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], {
    env: { LD_LIBRARY_PATH: join(UNPACKED, 'usr', 'lib', 'x86_64-linux-gnu') }, stdio: ['ignore', 'pipe', 'pipe']
  })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (line: string) => { chunks.push(line) })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGINT')
    child.kill('SIGTERM')
    await ended
  })
  return { port, said: () => chunks.join('') }
}

t.test('requests work through a pooler, and recover after the database was away', {
  skip: program === undefined && 'there is no pgbouncer on this machine'
}, async (t) => {
  const databaseUrl = new URL(overTcp(await createTestDatabase(t)))
  const gate = await startGate(t, Number(databaseUrl.port), databaseUrl.hostname)
  const pooler = await startPooler(databaseUrl, gate.port)
  const direct = new URL(databaseUrl)
  direct.host = `127.0.0.1:${gate.port}`
  const pooled = new URL(`postgres://${databaseUrl.username}@127.0.0.1:${pooler.port}/svc`)
  const server = await startServer(t, join(folder, 'data'), library, {
    SVC_DATABASE_URL: pooled.href, SVC_DATABASE_DIRECT_URL: direct.href, WEB_SERVER_CONCURRENCY: '2'
  })
  const options = { output: () => `${pooler.said()}\n${server.command.output()}`, ms: WAIT_MS }
  const headers = { authorization: AUTHORIZATION }

  const scan = async () => {
    const id = await server.scan()
    await until(async () => (await server.look(id))?.status === 'finished', 'the end of the scan', options)
  }
  await scan()
  await until(() => server.told.includes('scan:done'), 'the event of the scan', options)

  const list = await fetch(`${server.url}/api/roms?limit=100`, { headers })
  t.equal(list.status, 200, server.command.output())
  const roms = await list.json() as { items: { id: number }[] }
  t.equal(roms.items.length, 50)
  const answers = await Promise.all(Array.from({ length: REQUESTS }, async (_, index) => {
    const id = roms.items[index % 50]?.id
    const isWrite = index % 3 === 0
    const answer = await fetch(`${server.url}/api/roms/${id}${isWrite ? '/props' : ''}`, isWrite
      ? { method: 'PUT', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ data: { rating: index % 10 } }) }
      : { headers })
    await answer.arrayBuffer()
    return answer.status
  }))
  t.same([...new Set(answers)], [200], 'reads and writes of many requests at once')
  const sessions = await server.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where application_name = 'svc web'")
  t.ok((sessions?.[0]?.count ?? 99) <= POOL_SIZE, `${sessions?.[0]?.count} sessions of requests`)
  t.notMatch(pooler.said(), /unsupported startup parameter|prepared statement/)

  gate.close()
  const seen: { status: number, hasRetryAfter: boolean }[] = []
  const endsAt = performance.now() + OUTAGE_MS
  while (performance.now() < endsAt) {
    const answer = await tryFetch(`${server.url}/api/roms?limit=1`, { headers })
    if (answer !== null) seen.push({ status: answer.status, hasRetryAfter: answer.headers.has('retry-after') })
    await answer?.arrayBuffer()
  }
  t.ok(seen.length > 0, 'the server answers while the database is away')
  t.same(seen.filter(({ status, hasRetryAfter }) => status !== 503 || !hasRetryAfter), [], 'and says when to try again')
  gate.open()
  const openedAt = performance.now()
  await until(async () => (await tryFetch(`${server.url}/api/roms?limit=1`, { headers }))?.status === 200, 'the next list', options)
  t.ok(performance.now() - openedAt < 30_000, `requests work again after ${Math.round(performance.now() - openedAt)} ms`)
  server.told.length = 0
  await scan()
  await until(() => server.told.includes('scan:done'), 'the event of the next scan', options)
  await server.stop()
})
