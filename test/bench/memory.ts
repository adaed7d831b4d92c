import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WEB_FLAGS } from '../../core/process/node-flags.ts'
import { type Command, type Listening, listChildren, runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import type { BareOrder } from './bare-program.ts'
import { until } from '../until.ts'
import { untilComplete } from './complete.ts'
import { listTree, readShare } from './process.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'

/** Maximum memory of a server in MiB while its scan worker rests, by its number of web workers. */
const MOST = new Map([[1, 160], [4, 240]])
/** Long enough to measure the scan worker before its rest. The default is five minutes. */
const REST_MINUTES = '1'
/** Processes release the memory of their start after five seconds, and idle database connections end after ten. */
const SETTLED_MS = 20_000
/** The start has low priority, so it may take long. */
const PATIENCE_MS = 180_000

const sumShares = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + readShare(pid), 0)

/** Runs `svc start` while `work` runs. */
async function withServer (
  dataDir: string, workers: number, work: (server: Command, listening: Listening) => Promise<void>
): Promise<void> {
  const ends: (() => unknown)[] = []
  const env = settings(dataDir, { WEB_SERVER_CONCURRENCY: String(workers), SVC_WORKER_REST_MINUTES: REST_MINUTES, SVC_LOG_LEVEL: 'warn' })
  const server = runSvc({ teardown: (end) => { if (end !== undefined) ends.push(end) } }, ['start'], env)
  try {
    await work(server, await waitUntilListening(server, dataDir, PATIENCE_MS))
  } finally {
    for (const end of ends) await end()
  }
}

/** Measures a minimal program of Fastify and pg with a few routes. */
async function measureBare (databaseUrl: string): Promise<number> {
  const program = fork(fileURLToPath(new URL('bare-program.ts', import.meta.url)), [], {
    execArgv: WEB_FLAGS, env: { ...process.env, MALLOC_ARENA_MAX: '2' }
  })
  try {
    program.send({ databaseUrl, folder: '' } satisfies BareOrder)
    await once(program, 'message')
    return program.pid === undefined ? 0 : readShare(program.pid)
  } finally {
    program.kill()
  }
}

/** Measures all processes. @param most the target; null for none */
async function measureServer (
  server: Command, { state }: Listening, name: string, most: number | null
): Promise<Measurement> {
  await sleep(SETTLED_MS)
  const [webs, scan] = await Promise.all([listChildren(server.pid, 'web'), listChildren(server.pid, 'worker')])
  const others = listTree(server.pid).filter((pid) => ![server.pid, ...webs, ...scan].includes(pid))
  const all = sumShares([server.pid, ...webs, ...scan, ...others])
  const figures = {
    'supervisor (MiB)': readShare(server.pid),
    'each web worker (MiB)': sumShares(webs) / webs.length,
    'scan worker (MiB)': sumShares(scan),
    'database (MiB)': sumShares(others),
    'in all (MiB)': all
  }
  return {
    name,
    figures: { ...figures, 'bare program (MiB)': await measureBare(state.database_url) },
    targets: most === null ? [] : [{ what: 'in all', is: all, most, unit: ' MiB' }],
    notes: []
  }
}

async function measure (workers: number): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const dataDir = join(folder, 'data')
  const measured: Measurement[] = []
  try {
    await withServer(dataDir, workers, async (server, listening) => {
      const name = workers === 1 ? 'one web worker' : `up to ${workers} web workers`
      await untilComplete(server, workers, PATIENCE_MS)
      measured.push(await measureServer(server, listening, `idle, ${name}`, null))
      await until(async () => (await listChildren(server.pid, 'worker')).length === 0, 'a resting scan worker', { ms: PATIENCE_MS })
      measured.push(await measureServer(server, listening, `the scan worker rests, ${name}`, MOST.get(workers) ?? Infinity))
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return measured
}

const options = createBench('memory', 'measures what a server takes that nobody asks anything').parse().opts<BenchOptions>()
if (process.platform !== 'linux') throw new Error('Only Linux tells the share of a process in memory; run this there')
for (const workers of MOST.keys()) for (const row of await measure(workers)) report(row, options)
