import { randomFillSync } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { seedLibrary } from '../bench/seed-library.ts'
import { runSvc, settings, tryFetch } from '../e2e/server.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { until } from '../until.ts'
import { AUTHORIZATION, type SoakServer, startServer } from './server.ts'

/** 50,000 ROMs and 5,120 MiB make a large library. A smaller one is built faster and tests the same. */
const ROMS = Number(process.env.SOAK_ROMS ?? 5_000)
const SAVES_MIB = Number(process.env.SOAK_SAVES_MIB ?? 256)
const SAVE_BYTES = 1024 ** 2
/** Memory is bounded: a command may use no more, whatever the size of the library. */
const MEMORY_MAX_MIB = 400
const MOST_MS = 600_000

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
const [dataDir, libraryDir, backups] = [join(folder, 'data'), join(folder, 'library'), join(folder, 'backups')]
const env = settings(dataDir, { SVC_BACKUP_PASSPHRASE: 'for soak tests only', SVC_LIBRARY_DIR: libraryDir, SVC_LOG_LEVEL: 'warn' })
const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`

/** Writes saves with incompressible content, like states of consoles. */
async function writeSaves (): Promise<void> {
  const place = join(dataDir, 'assets', 'users', 'soak', 'saves')
  await mkdir(place, { recursive: true })
  const content = Buffer.alloc(SAVE_BYTES)
  for (let save = 0; save < SAVES_MIB; save++) {
    const file = await open(join(place, `${save}.srm`), 'w')
    await file.write(randomFillSync(content))
    await file.close()
  }
}

/** Returns the peak memory of a process so far, in MiB. */
async function readPeak (pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

interface Ran { ms: number, peakMib: number, output: string }

async function run (t: Pick<Test, 'teardown'>, args: string[], more: Record<string, string> = {}): Promise<Ran> {
  const since = performance.now()
  const command = runSvc(t, args, { ...env, ...more })
  let peakMib = 0
  const watching = setInterval(() => {
    void readPeak(command.pid).then((mib) => { peakMib = Math.max(peakMib, mib) })
  }, 100)
  const { code, output } = await command.ended
  clearInterval(watching)
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}:\n${output}`)
  return { ms: performance.now() - since, peakMib, output }
}

async function sizeOf (place: string): Promise<number> {
  const files = (await readdir(place, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))))
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

/** Reads and writes as apps do until it is stopped. @returns the requests with a wrong answer */
function createClients ({ url }: SoakServer) {
  const failed: string[] = []
  const over = new AbortController()
  let answered = 0
  const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
  const asks: [string, RequestInit][] = [
    ['/api/roms?limit=50', { headers }],
    ['/api/roms/1', { headers }],
    ['/api/roms/1/props', { headers, method: 'PUT', body: JSON.stringify({ rating: 7 }) }]
  ]
  const clients = asks.map(async ([path, init]) => {
    while (!over.signal.aborted) {
      const answer = await tryFetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(30_000) })
      await answer?.arrayBuffer()
      if (answer?.ok === true) answered++
      else failed.push(`${init.method ?? 'GET'} ${path}: ${answer?.status ?? 'no answer'}`)
      await sleep(50)
    }
  })
  return {
    async end () {
      over.abort()
      await Promise.all(clients)
      return { failed, answered }
    }
  }
}

await t.test(`${ROMS} ROMs and ${SAVES_MIB} MiB of saves`, { timeout: MOST_MS * 4 }, async (t: Test) => {
  const server = await startServer(t, dataDir, libraryDir)
  await withConnection(server.databaseUrl(), async (client) => {
    const { rows: [user] } = await client.query<{ id: number }>('select id from users order by id limit 1')
    await seedLibrary(client, ROMS, user?.id ?? 1)
  })
  await writeSaves()
  await until(async () => (await tryFetch(`${server.url}/api/roms?limit=1`, { headers: { authorization: AUTHORIZATION } }))?.status === 200,
    'a list', server.command)

  const tell = (what: string, { ms, peakMib }: Ran, bytes: number) => {
    t.comment(`${what}: ${(ms / 1_000).toFixed(1)} s, ${Math.round(peakMib)} MiB of memory, ${mebibytes(bytes)} written`)
    t.ok(peakMib < MEMORY_MAX_MIB, `${what} takes ${Math.round(peakMib)} MiB`)
  }

  const clients = createClients(server)
  t.teardown(() => clients.end())
  const [whole, first, second] = ['whole', 'first', 'second'].map((name) => join(backups, `${name}.tar.gz`)) as [string, string, string]
  tell('a backup', await run(t, ['backup', whole]), (await stat(whole)).size)
  await rm(whole)
  tell('a first incremental one', await run(t, ['backup', '--incremental', first]), await sizeOf(backups))
  const before = await sizeOf(backups)
  tell('a second one', await run(t, ['backup', '--incremental', second]), await sizeOf(backups) - before)
  const { failed, answered } = await clients.end()
  t.same(failed, [], `${answered} requests meanwhile`)
  t.comment(`${answered} requests were answered meanwhile, ${failed.length} were not`)
  await server.stop()

  const target = join(folder, 'restored')
  const restored = await run(t, ['restore', second], { SVC_DATA_DIR: target })
  tell('a restore', restored, await sizeOf(target))
  t.match(restored.output, /is as it was on/)
  t.equal((await readdir(join(target, 'assets', 'users', 'soak', 'saves'))).length, SAVES_MIB)
})
