import { open } from 'node:fs/promises'
import { devNull } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createLogger } from '../../core/log/log.ts'
import { buildTestApp } from '../support.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 5)
const ROUND_MS = 4_000
const LINES_PER_SECOND = 10_000
const TICK_MS = 10
/** Maximum median relative to the same flood without a reader. */
const RATIO_MAX = 1.5
const MEMORY_MAX_BYTES = 64 * 1024 ** 2

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

interface Server {
  ask (): Promise<void>
  log: ReturnType<typeof createLogger>
  countLines (): Promise<number>
}

async function startServer (t: Pick<Test, 'testdir' | 'teardown'>, isViewerOff: boolean): Promise<Server> {
  const file = await open(devNull, 'w')
  t.teardown(() => file.close())
  // The logger writes like a process, to a target that accepts everything.
  const log = createLogger({ server: { log_level: 'info' } }, 'svc-web', pino.destination({ dest: file.fd, sync: true }))
  const { app, admin } = await buildTestApp(t, {
    logger: log, packages: [], env: { DISABLE_LOGS_VIEWER: String(isViewerOff) }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/users/me`
  return {
    log,
    async ask () {
      const answer = await fetch(url, { headers: admin })
      if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
      await answer.arrayBuffer()
    },
    countLines: async () => (await app.pg.query<{ count: number }>('select count(*)::int as count from log_lines')).rows[0]?.count ?? 0
  }
}

/** Logs this number of lines a second until it is stopped. @returns the number of lines */
function flood ({ log }: Server, perSecond: number): () => number {
  const since = performance.now()
  let count = 0
  const timer = setInterval(() => {
    const due = (performance.now() - since) / 1_000 * perSecond
    while (count < due) log.info({ rom: count, path: '/library/roms/snes/A game.sfc' }, `line ${count++} of a flood`)
  }, TICK_MS)
  return () => {
    clearInterval(timer)
    return count
  }
}

async function measure (server: Server, perSecond: number): Promise<{ times: number[], lines: number }> {
  const end = perSecond === 0 ? () => 0 : flood(server, perSecond)
  const until = performance.now() + ROUND_MS
  const times: number[] = []
  while (performance.now() < until) {
    const since = performance.now()
    await server.ask()
    times.push(performance.now() - since)
    await sleep(2)
  }
  return { times, lines: end() }
}

const quantile = (times: number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
const describe = (times: number[]) =>
  `median ${quantile(times, 0.5).toFixed(2)} ms, 95 of 100 within ${quantile(times, 0.95).toFixed(2)} ms`

t.test('a flood of log lines with a reader does not slow requests or fill memory', async (t) => {
  const [read, unread] = [await startServer(t, false), await startServer(t, true)]
  const found = { quiet: [] as number[], unread: [] as number[], read: [] as number[] }
  let lines = 0
  await measure(read, LINES_PER_SECOND)
  collect()
  const before = process.memoryUsage()
  for (let round = 0; round < ROUNDS; round++) {
    found.quiet.push(...(await measure(read, 0)).times)
    found.unread.push(...(await measure(unread, LINES_PER_SECOND)).times)
    const flooded = await measure(read, LINES_PER_SECOND)
    found.read.push(...flooded.times)
    lines += flooded.lines
  }
  collect()
  const after = process.memoryUsage()
  const ratio = quantile(found.read, 0.5) / quantile(found.unread, 0.5)
  for (const [name, times] of Object.entries(found)) t.comment(`${name}: ${describe(times)}`)
  t.comment(`${lines} lines; ratio ${ratio.toFixed(2)}; heap ${(before.heapUsed / 1e6).toFixed(0)} to ${(after.heapUsed / 1e6).toFixed(0)} MB, ` +
    `RSS ${(before.rss / 1e6).toFixed(0)} to ${(after.rss / 1e6).toFixed(0)} MB`)
  t.ok(lines >= ROUNDS * ROUND_MS / 1_000 * LINES_PER_SECOND * 0.9, 'it was that much')
  t.ok(ratio <= RATIO_MAX, `${ratio.toFixed(2)} times`)
  t.ok(after.heapUsed - before.heapUsed < MEMORY_MAX_BYTES, 'the heap stays')
  t.ok(await read.countLines() <= 1_000)
})
