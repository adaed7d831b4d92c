import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WEB_FLAGS } from '../../core/node-flags.ts'
import { type Command, type Listening, listChildren, runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import type { BareOrder } from './bare-program.ts'
import { untilComplete } from './complete.ts'
import { listTree, readShare } from './process.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'

/** Maximum memory of an idle server in MiB, by its number of web workers. */
const MOST = new Map([[1, 180], [4, 350]])
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
  const env = settings(dataDir, { WEB_SERVER_CONCURRENCY: String(workers), SVC_LOG_LEVEL: 'warn' })
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

async function measureServer (server: Command, { state }: Listening, workers: number): Promise<Measurement> {
  await untilComplete(server, workers, PATIENCE_MS)
  await sleep(SETTLED_MS)
  const [webs, scan] = await Promise.all([listChildren(server.pid, 'web'), listChildren(server.pid, 'worker')])
  const others = listTree(server.pid).filter((pid) => ![server.pid, ...webs, ...scan].includes(pid))
  const figures = {
    'supervisor (MiB)': readShare(server.pid),
    'each web worker (MiB)': sumShares(webs) / webs.length,
    'scan worker (MiB)': sumShares(scan),
    'database (MiB)': sumShares(others)
  }
  const all = sumShares([server.pid, ...webs, ...scan, ...others])
  return {
    name: `at rest, ${workers === 1 ? 'one web worker' : `up to ${workers} web workers`}`,
    figures: { ...figures, 'bare program (MiB)': await measureBare(state.database_url) },
    targets: [{ what: 'in all', is: all, most: MOST.get(workers) ?? Infinity, unit: ' MiB' }],
    notes: []
  }
}

async function measure (workers: number): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const dataDir = join(folder, 'data')
  const measured: Measurement[] = []
  try {
    await withServer(dataDir, workers, async (server, listening) => {
      measured.push(await measureServer(server, listening, workers))
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const [one] = measured
  if (one === undefined) throw new Error('The server ended before it was measured')
  return one
}

const options = createBench('memory', 'measures what a server takes that nobody asks anything').parse().opts<BenchOptions>()
if (process.platform !== 'linux') throw new Error('Only Linux tells the share of a process in memory; run this there')
for (const workers of MOST.keys()) report(await measure(workers), options)
