import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Socket, io } from 'socket.io-client'
import t from 'tap'
import { CREDENTIALS, startS3Server } from '../core/store/s3-server.ts'
import { startRoundRobin } from '../e2e/round-robin.ts'
import { type Command, createUsedDataDir, runSvc, settings, tryFetch } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { createRandom } from './random.ts'
import { ADMIN, AUTHORIZATION, WAIT_MS } from './server.ts'
import { startVisitors } from './visitors.ts'

// Two web hosts with data directories of their own and one bucket, one of which is killed: many sockets behind round
// robin without stickiness while people write, and uploads whose chunks alternate between the hosts.

const SOCKETS = Number(process.env.SOAK_SOCKETS ?? 1_000)
const BATCH = 50
const RETURN_MS = 10_000
const UPLOADS = Number(process.env.SOAK_ROUNDS ?? 5)
const CHUNKS = 9
const CHUNK_BYTES = 256 * 1024
const COMPLETION_MS = 150
const VISITORS = 4
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const SVC_DATABASE_URL = await createTestDatabase(t)
const bucket = await startS3Server(t)
const libraryDir = mkdtempSync(join(tmpdir(), 'svc-library-'))
t.teardown(() => { rmSync(libraryDir, { recursive: true, force: true }) })
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${UPLOADS} SOAK_SOCKETS=${SOCKETS}`)

interface Host { command: Command, url: string }

/** Creates the data directory of one machine. */
function createDataDir (): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-host-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
  return createUsedDataDir(dataDir)
}

async function startHost (address: string): Promise<Host> {
  const command = runSvc(t, ['web'], settings(createDataDir(), {
    ...ADMIN,
    SVC_LIBRARY_DIR: libraryDir,
    SVC_HOST: address,
    SVC_INTERNAL_ADDRESS: `${address}:${await freePort()}`,
    SVC_DATABASE_URL,
    SVC_STORE_URL: bucket.url,
    AWS_ACCESS_KEY_ID: CREDENTIALS.id,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret,
    SVC_AUTH_SECRET_KEY: 'one key of all hosts'
  }))
  const [, url = ''] = await until(() => /"url":"([^"]+)"/.exec(command.output()), `the host at ${address}`, { ...command, ms: WAIT_MS })
  return { command, url }
}

/** Adds a game for each visitor. @returns the ids */
const addRoms = () => withConnection(SVC_DATABASE_URL, async (client) => {
  await client.query("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES')")
  const { rows } = await client.query<{ id: number }>(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    select p.id, 'Game ' || n || '.sfc', 'roms/snes', 'Game ' || n, 'Game ' || n
    from platforms p cross join generate_series(1, $1) n returning id`, [VISITORS])
  return rows.map(({ id }) => id)
})

const hostOf = ({ io: { engine } }: Socket) => String(Reflect.get(engine, 'id')).split('-')[0]

t.test(`${SOCKETS} sockets, half of them polling, are back within ${RETURN_MS / 1_000} s after a host was killed`, async (t) => {
  const [first, second] = [await startHost('127.0.0.2'), await startHost('127.0.0.3')]
  const proxy = await startRoundRobin(t, [first.url, second.url])
  const login = await fetch(`${first.url}/api/login`, { method: 'POST', headers: { authorization: AUTHORIZATION } })
  const cookie = login.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ')
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.disconnect() })
  while (sockets.length < SOCKETS) {
    for (let count = 0; count < BATCH; count++) {
      sockets.push(io(proxy.url, {
        path: '/ws/socket.io', transports: [count % 2 === 0 ? 'polling' : 'websocket'], forceNew: true, extraHeaders: { cookie }
      }))
    }
    await until(() => sockets.every(({ connected }) => connected), 'a batch of sockets', { ...first.command, ms: WAIT_MS })
  }
  const counts = (host: string | undefined) => sockets.filter((socket) => hostOf(socket) === host).length
  const [one] = sockets.map(hostOf)
  t.ok(counts(one) > SOCKETS / 4 && counts(one) < SOCKETS * 3 / 4, `${counts(one)} sockets are on one host`)

  const visitors = startVisitors({ url: proxy.url, seed: SEED, visitors: VISITORS, roms: await addRoms() })
  const writeMore = async () => {
    const before = visitors.written()
    await until(() => visitors.written() > before + VISITORS, 'saves', { ...first.command, ms: WAIT_MS })
  }
  await writeMore()
  let lost = 0
  for (const socket of sockets) socket.on('disconnect', () => { lost++ })
  second.command.child.kill('SIGKILL')
  await second.command.ended
  const endedAt = performance.now()
  await until(() => lost > SOCKETS / 5, 'the loss', { ...first.command, ms: WAIT_MS })
  const isBack = () => sockets.every(({ connected }) => connected) && new Set(sockets.map(hostOf)).size === 1
  await until(isBack, 'all sockets on the first host', {
    ms: WAIT_MS, output: () => `${sockets.filter(({ connected }) => !connected).length} are missing\n${first.command.output().slice(-5_000)}`
  })
  const tookMs = Math.round(performance.now() - endedAt)
  t.ok(tookMs < RETURN_MS, `${lost} sockets were lost, all are back after ${tookMs} ms`)
  t.comment(`${lost} sockets were lost, all are back after ${tookMs} ms`)
  await writeMore()
  await visitors.finish()
  t.same(visitors.ledger.findings, [])
  t.comment(`${visitors.written()} saves were acknowledged; answers ${JSON.stringify(visitors.ledger.answers)}`)
})

/** Starts a scan worker on a third machine. */
async function startWorker (): Promise<Command> {
  const command = runSvc(t, ['worker'], settings(createDataDir(), {
    SVC_LIBRARY_DIR: libraryDir, SVC_DATABASE_URL, SVC_AUTH_SECRET_KEY: 'one key of all hosts'
  }))
  await until(() => command.output().includes('is ready'), 'the scan worker', { ...command, ms: WAIT_MS })
  return command
}

interface AskOptions { headers?: object, body?: Uint8Array<ArrayBuffer> }

/** Repeats a request to a host until it answers without 5xx. */
const ask = ({ url, command }: Host, method: string, path: string, { headers = {}, ...init }: AskOptions = {}) =>
  until(async () => {
    const answer = await tryFetch(`${url}${path}`, { method, headers: { authorization: AUTHORIZATION, ...headers }, ...init })
    return answer !== null && answer.status < 500 && { status: answer.status, text: await answer.text() }
  }, `${method} ${path}`, { ...command, ms: WAIT_MS })

t.test('an upload is there once, although the host that completes it dies', async (t) => {
  const random = createRandom(SEED)
  const folder = join(libraryDir, 'roms', 'snes')
  mkdirSync(folder, { recursive: true })
  const worker = await startWorker()
  const second = await startHost('127.0.0.5')
  const client = new pg.Client({ connectionString: SVC_DATABASE_URL })
  await client.connect()
  t.teardown(() => client.end())
  await client.query("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES') on conflict do nothing")
  const { rows: [platform] } = await client.query<{ id: number }>("select id from platforms where fs_slug = 'snes'")
  const sums = new Map<string, string>()
  const answers: string[] = []
  for (let round = 0; round < UPLOADS; round++) {
    const first = await startHost('127.0.0.4')
    const bytes = new Uint8Array(CHUNK_BYTES * CHUNKS - 17).map(() => Math.trunc(random() * 256))
    const name = `Game ${round}.sfc`
    sums.set(name, createHash('sha1').update(bytes).digest('hex'))
    const { text } = await ask(first, 'POST', '/api/roms/upload/start', {
      headers: {
        'x-upload-platform': String(platform?.id), 'x-upload-filename': name, 'x-upload-total-size': String(bytes.length),
        'x-upload-total-chunks': String(CHUNKS)
      }
    })
    const { upload_id: id } = JSON.parse(text) as { upload_id: string }
    for (let index = 0; index < CHUNKS; index++) {
      const body = bytes.slice(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)
      const host = index % 2 === 0 ? first : second
      t.equal((await ask(host, 'PUT', `/api/roms/upload/${id}`, { headers: { 'x-chunk-index': String(index) }, body })).status, 200)
    }
    const completing = tryFetch(`${first.url}/api/roms/upload/${id}/complete`, { method: 'POST', headers: { authorization: AUTHORIZATION } })
    await sleep(random() * COMPLETION_MS)
    first.command.child.kill('SIGKILL')
    await first.command.ended
    const died = (await completing)?.status ?? null
    // 409 while the database still has the session of the killed host; 404 once an upload is complete.
    const { status } = await until(async () => {
      const answer = await ask(second, 'POST', `/api/roms/upload/${id}/complete`)
      return answer.status !== 409 && answer
    }, 'the completion on the other host', { ...second.command, ms: WAIT_MS })
    answers.push(`${died} ${status}`)
    t.ok(died === 201 ? status === 404 : [201, 404].includes(status), `${name}: ${answers.at(-1)}`)
  }
  t.comment(`answers of both hosts: ${answers.join(', ')}`)
  const stored = async () => (await client.query<{ name: string, sha1: string }>(`select r.fs_name as name, f.sha1_hash as sha1
    from roms r join rom_files f on f.rom_id = r.id where not r.missing_from_fs order by 1`)).rows
  await until(async () => (await stored()).length === UPLOADS, 'the rows', { ...worker, ms: WAIT_MS })
  t.same(await stored(), [...sums].map(([name, sha1]) => ({ name, sha1 })).sort((a, b) => a.name < b.name ? -1 : 1))
  // A host that dies after the end of its upload leaves a second name of the file, which the hourly task removes.
  t.equal((await ask(second, 'POST', '/api/tasks/run/cleanup_uploads')).status, 200)
  await until(async () => (await readdir(folder)).length <= UPLOADS, 'the cleanup', { ...worker, ms: WAIT_MS })
  t.same((await readdir(folder)).sort(), [...sums.keys()].sort(), 'each file is there once, and nothing else')
  for (const [name, sum] of sums) t.equal(createHash('sha1').update(await readFile(join(folder, name))).digest('hex'), sum)
})
