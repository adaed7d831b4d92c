import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError } from 'commander'
import { PERSON_TOKEN, TOKEN } from './api-library.ts'
import { type Program, type ProgramName, type Programs, createPrograms } from './api-programs.ts'
import { ROWS, type Row } from './api-rows.ts'
import { withEnds } from './cleanup.ts'
import type { Load, LoadOrder } from './load.ts'
import { type BenchOptions, createBench, onlyRows } from './options.ts'
import { readProcessorSeconds, runProgram } from './process.ts'
import { type Measurement, type Target, report } from './report.ts'
import { median } from './statistics.ts'

/** Measures the API beside a minimal program that does the same work on the same database, in turns. */
interface Options extends BenchOptions {
  only: RegExp
  roms: number
  million?: boolean
  rounds: number
  seconds: number
  rowSeconds: number
  connections: number
}

const MILLION = 1_000_000
/** Requests to each process before the first round of a row. After them code is compiled and statements are planned. */
const WARM_UPS = 2_000
interface Measured extends Omit<Load, 'requests'> {
  /** Processor time of a request without the database: almost the same on a busy machine. */
  processorMs: number
}

function readNumber (text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new InvalidArgumentError('Give a number above 0.')
  return number
}

function readOptions (): Options {
  return createBench('api', 'measures the API beside a program that does no more than the same work')
    .addOption(onlyRows(`some rows: ${ROWS.map(({ name }) => name).join('; ')}`))
    .option('--roms <count>', 'in the library', readNumber, 46_000)
    .option('--million', 'a library of 1,000,000')
    .option('--rounds <count>', 'turns of each program, of which the median counts', readNumber, 3)
    .option('--seconds <seconds>', 'of each turn', readNumber, 4)
    .option('--row-seconds <seconds>', 'a row that takes longer is given up', readNumber, 90)
    .option('--connections <count>', 'that ask, each as soon as it is answered', readNumber, 10)
    .parse()
    .opts<Options>()
}

/** Shows the current step to the user. */
const tell = (line: string) => { process.stderr.write(`${line}\n`) }

function summarise (loads: readonly Measured[]): Measured {
  const of = (field: keyof Measured) => median(loads.map((load) => load[field]))
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), bytes: of('bytes'), processorMs: of('processorMs') }
}

const describe = ({ perSecond, p50, p99, processorMs }: Measured) =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, processor ${processorMs.toFixed(2)} ms`

async function measure ({ url, listPids }: Program, order: Omit<LoadOrder, 'urls'>, signal: AbortSignal): Promise<Measured> {
  const readSeconds = async () => (await listPids()).reduce((sum, pid) => sum + (readProcessorSeconds(pid) ?? NaN), 0)
  const before = await readSeconds()
  const { requests, ...load } = await runProgram<Load>('load.ts', { ...order, urls: [url] } satisfies LoadOrder, signal)
  return { ...load, processorMs: (await readSeconds() - before) * 1_000 / requests }
}

const CHANGE_MS = 100

/** Runs work while ROMs change. */
async function duringChanges<T> ({ change }: Programs, work: () => Promise<T>): Promise<T> {
  const end = new AbortController()
  const changes = (async () => {
    while (!end.signal.aborted) {
      await change()
      await sleep(CHANGE_MS)
    }
  })()
  try {
    return await work()
  } finally {
    end.abort()
    await changes
  }
}

/** Measures the server and the program for comparison in turns, so that other load on the machine affects both. */
async function takeTurns (
  row: Row, programs: Programs, { roms, rounds, seconds, connections }: Options, signal: AbortSignal
): Promise<[Measured, Measured]> {
  const token = row.isPerson === true ? PERSON_TOKEN : TOKEN
  const order = { token: row.isOpen === true ? null : token, distinct: row.distinct?.(roms) ?? 1, connections, seconds }
  const loads: [Measured[], Measured[]] = [[], []]
  for (let round = 1; round <= rounds; round++) {
    const turnOf = async (program: Program, path: string) => {
      const { length } = await program.listPids()
      const warmUps = round === 1 && row.isCold !== true ? length * (row.warmUps ?? WARM_UPS) : 0
      const run = () => measure(program, { ...order, path, warmUps }, signal)
      return row.isChanging === true ? await duringChanges(programs, run) : await run()
    }
    const path = row.path(Math.floor(roms / 2))
    const measureProgram = async (name: ProgramName, path: string) => row.isCold === true
      ? await programs.withNew(name, (program) => turnOf(program, path))
      : await turnOf(await programs.find(name), path)
    const one = await measureProgram(row.of ?? 'one worker', path)
    const two = await measureProgram(row.beside, row.barePath ?? path)
    tell(`${row.name}, ${round} of ${rounds}: ${describe(one)}; ${row.beside} ${describe(two)}`)
    loads[0].push(one)
    loads[1].push(two)
  }
  return [summarise(loads[0]), summarise(loads[1])]
}

function targetsOf ({ name, beside, least, p99Most, leastPerSecond }: Row, own: Measured, other: Measured): Target[] {
  return [
    ...(leastPerSecond === undefined ? [] : [{ what: name, is: own.perSecond, least: leastPerSecond, unit: '/s' }]),
    ...(least === undefined ? [] : [{ what: `${name} / ${beside}`, is: own.perSecond / other.perSecond, least }]),
    ...(p99Most === undefined ? [] : [{ what: `${name}, p99 / that of ${beside}`, is: own.p99 / other.p99, most: p99Most }])
  ]
}

function toMeasurement (row: Row, own: Measured, other: Measured): Measurement {
  return {
    name: `${row.name}, ${(own.bytes / 1e3).toFixed(1)} kB`,
    figures: {
      server: describe(own),
      [`${row.beside}, ${(other.bytes / 1e3).toFixed(1)} kB`]: describe(other),
      ratio: own.perSecond / other.perSecond
    },
    targets: targetsOf(row, own, other),
    notes: []
  }
}

async function measureRow (row: Row, programs: Programs, options: Options): Promise<Measurement> {
  const signal = AbortSignal.timeout(options.rowSeconds * 1_000)
  try {
    return toMeasurement(row, ...await takeTurns(row, programs, options, signal))
  } catch (err) {
    const why = signal.aborted ? `it took longer than ${options.rowSeconds} s` : String(err)
    return { name: row.name, figures: {}, targets: [{ what: 'rows without a figure', is: 1, most: 0 }], notes: [why] }
  }
}

const given = readOptions()
const options = { ...given, roms: given.million === true ? MILLION : given.roms }
await withEnds(async (ends) => {
  tell(`fills a database with ${options.roms} ROMs`)
  const programs = await createPrograms(options.roms, ends)
  for (const row of ROWS.filter(({ name }) => options.only.test(name))) {
    report(await measureRow(row, programs, options), options)
  }
})
