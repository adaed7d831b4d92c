import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { measureLargeFiles, measureSmallFiles } from './hashing.ts'
import { PLATFORMS_MAX } from './library.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'
import { measureListeners, measureMixed, measureProviders, measureScans } from './scans.ts'

const PARTS = ['hashing', 'first', 'quick', 'mixed', 'large', 'listeners', 'providers'] as const
type Part = typeof PARTS[number]

/** Containers of a typical collection, per hundred ROMs; all other ROMs are plain files. */
const MIXED = { zips: 21, sevenZips: 3, folders: 5 }

/** Files of 420 kB on average, 2.1 GB in total. */
const LARGER = { roms: 5_000, smallKib: 820, archives: 0, folders: 0 }

interface Options extends BenchOptions {
  roms: number
  smallKib: number
  platforms: number
  archives: number
  folders: number
  large: number
  largeMib: number
  providerRoms: number
  listeners: number
  seed: number
  only?: Part[]
  keep?: boolean
}

const HELP = `
Everything runs in a temporary folder (TMPDIR), which is removed at the end: 50,000 ROMs take about 1 GB,
the part large another 2.2 GB.
The server is the real one: svc start with one web worker and a scan worker, and the embedded PostgreSQL with the server's
own settings, besides pg_stat_statements, which counts. Nothing is relaxed: commits are written to the disk.
Exit codes: 0 measured, 1 failed, 2 a target was missed (with --check only).`

function readCount (text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 0) throw new InvalidArgumentError('Give a whole number.')
  return count
}

function readPlatforms (text: string): number {
  const count = readCount(text)
  if (count < 1 || count > PLATFORMS_MAX) throw new InvalidArgumentError(`There are 1 to ${PLATFORMS_MAX}.`)
  return count
}

function readOptions (): Options {
  return createBench('scan', 'measures hashing and scans of a library made for it')
    .option('--roms <count>', 'small plain files', readCount, 50_000)
    .option('--small-kib <kib>', 'the largest of them', readCount, 8)
    .option('--archives <count>', 'small archives besides them', readCount, 600)
    .option('--folders <count>', 'ROMs of several files besides them', readCount, 200)
    .option('--platforms <count>', 'folders all this is spread over', readPlatforms, 4)
    .option('--large <count>', 'large files to hash', readCount, 8)
    .option('--large-mib <mib>', 'the size of each', readCount, 64)
    .option('--provider-roms <count>', 'ROMs that are looked up', readCount, 1_000)
    .option('--listeners <count>', 'sockets that hear of a scan', readCount, 1_000)
    .option('--seed <number>', 'another seed makes another library', readCount, 1)
    .addOption(new Option('--only <part...>', 'only these parts').choices(PARTS))
    .option('--keep', 'leave the temporary folder for a look')
    .addHelpText('after', HELP)
    .parse()
    .opts<Options>()
}

async function * measure (options: Options, folder: string): AsyncGenerator<Measurement> {
  const parts = new Set(options.only ?? PARTS)
  const { roms, smallKib, platforms, archives, folders, seed, large, largeMib } = options
  const library = { roms, smallKib, platforms, archives, folders, seed }
  if (parts.has('hashing')) {
    yield await measureLargeFiles(folder, { large, largeMib, library })
    yield await measureSmallFiles(folder, { large, largeMib, library })
  }
  // A re-scan needs a first scan.
  if (parts.has('first') || parts.has('quick')) {
    const [first, ...again] = await measureScans(folder, library)
    if (first !== undefined && parts.has('first')) yield first
    if (parts.has('quick')) yield * again
  }
  if (parts.has('mixed')) {
    const [zips = 0, sevenZips = 0, several = 0] = [MIXED.zips, MIXED.sevenZips, MIXED.folders]
      .map((share) => Math.round(roms * share / 100))
    yield * await measureMixed(folder,
      { ...library, roms: roms - zips - sevenZips - several, archives: 0, zips, sevenZips, folders: several })
  }
  if (parts.has('large')) yield * await measureScans(join(folder, 'large'), { ...library, ...LARGER })
  if (parts.has('listeners')) yield await measureListeners(folder, library, options.listeners)
  if (parts.has('providers')) yield await measureProviders(folder, options.providerRoms)
}

const options = readOptions()
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
try {
  const load = loadavg()[0]?.toFixed(2) ?? ''
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), load ${load}, node ${process.version}`
  console.log(options.json === true ? JSON.stringify({ name: 'machine', figures: { machine } }) : `${machine}\n`)
  for await (const measurement of measure(options, folder)) {
    report(measurement, options)
  }
} finally {
  if (options.keep === true) process.stderr.write(`left in ${folder}\n`)
  else rmSync(folder, { recursive: true, force: true })
}
