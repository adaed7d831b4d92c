import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { type Command, runSvc, settings } from '../e2e/server.ts'
import { until } from '../until.ts'
import { startGuard } from './guard.ts'
import { TOKEN, openLibraryDatabase } from './library-database.ts'
import type { Load, LoadOrder } from './load.ts'
import { type BenchOptions, createBench, onlyRows } from './options.ts'
import { runProgram } from './process.ts'
import { report } from './report.ts'

/** Measures lists as one web host answers them, and as two on the same database, with as many connections in total. */
const START_MS = 180_000
const PAGE = '/api/roms?limit=50&offset={n}&with_rom_id_index=false'
const BARE = `${PAGE}&with_total=false&with_char_index=false&with_filter_values=false`
const ROWS: { name: string, path: string, deepest?: number }[] = [
  { name: 'list of a page', path: BARE },
  { name: 'list of a page with counts', path: PAGE },
  { name: 'one ROM', path: '/api/roms/{n}' },
  { name: 'search, one word', path: `${PAGE}&search_term=dragon&with_filter_values=false`, deepest: 500 }
]

interface Options extends BenchOptions {
  only: RegExp
  roms: number
  seconds: number
  connections: number
  keep?: string
}

const options = createBench('hosts', 'measures lists with one and with two web hosts')
  .addOption(onlyRows(`some rows: ${ROWS.map(({ name }) => name).join('; ')}`))
  .option('--roms <count>', 'in the library', Number, 46_000)
  .option('--seconds <seconds>', 'of each turn', Number, 10)
  .option('--connections <count>', 'that ask, each as soon as it is answered', Number, 10)
  .option('--keep <folder>', 'where databases stay, to be measured again')
  .parse().opts<Options>()
/** Shows progress beside the result. */
const say = (text: string) => { console.error(text) }
const ends: (() => unknown)[] = []

interface Host { command: Command, url: string }

async function startHost (folder: string, databaseUrl: string): Promise<Host> {
  const data = join(folder, 'data')
  mkdirSync(join(data, 'library'), { recursive: true })
  const command = runSvc({ teardown: (end) => { if (end !== undefined) ends.unshift(end) } }, ['web'], settings(data, {
    SVC_DATABASE_URL: databaseUrl,
    SVC_LIBRARY_DIR: join(data, 'library'),
    SVC_AUTH_SECRET_KEY: 'one key of all hosts',
    SVC_INTERNAL_ADDRESS: `127.0.0.1:${await freePort()}`
  }))
  const [, url = ''] = await until(() => /"url":"([^"]+)"/.exec(command.output()), 'a web host', { ...command, ms: START_MS })
  return { command, url }
}

async function measure (hosts: readonly Host[], { path, deepest }: typeof ROWS[number]): Promise<Load> {
  const { roms, connections, seconds } = options
  return await runProgram<Load>('load.ts', {
    urls: hosts.map(({ url }) => url),
    path,
    distinct: deepest ?? roms - 50,
    token: TOKEN,
    connections,
    seconds,
    warmUps: 200
  } satisfies LoadOrder)
}

const describe = ({ perSecond, p50, p99 }: Load) => `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const guard = startGuard()
ends.push(() => { guard.stop() }, () => { rmSync(folder, { recursive: true, force: true }) })
try {
  const pids: number[] = []
  const watch = (pid: number) => {
    pids.unshift(pid)
    guard.watch({ pids, folder })
  }
  const database = await openLibraryDatabase({ roms: options.roms, folder, kept: options.keep, say, onStart: watch })
  ends.unshift(() => database.stop())
  const figures: Record<string, string> = {}
  const hosts = [await startHost(folder, database.url), await startHost(folder, database.url)]
  for (const { command } of hosts) watch(command.pid)
  // In turns, so that other load on the machine affects both.
  for (const row of ROWS.filter(({ name }) => options.only.test(name))) {
    for (const [name, some] of [['one host', hosts.slice(0, 1)], ['two hosts', hosts]] as const) {
      const line = describe(await measure(some, row))
      figures[`${row.name}, ${name}`] = line
      say(`${row.name}, ${name}: ${line}`)
    }
  }
  const name = `Lists of ${options.roms.toLocaleString('en')} ROMs with one and two web hosts`
  report({ name, figures, targets: [], notes: [] }, options)
} finally {
  for (const end of ends) await end()
}
