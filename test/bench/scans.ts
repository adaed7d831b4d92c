import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Library, type LibraryOptions, buildLibrary } from './library.ts'
import type { MinimalScanInput, MinimalScans } from './minimal-scan.ts'
import { type Timing, runProgram } from './process.ts'
import { CONCURRENCY, LATENCY_MS, PROVIDERS, installProviders, startProviderServers } from './providers.ts'
import type { Measurement, Target } from './report.ts'
import { type BenchServer, type ScanMeasure, type ServerOptions, withServer } from './server.ts'

const FIRST_LEAST_ROMS_PER_SECOND = 3_300
const QUICK_MOST_SECONDS = 3
/** The targets of speed and time apply to a library of this size. */
const TARGET_ROMS = 50_000
/** The number of files that somebody adds to a scanned library, and the seconds until the list contains their ROMs. */
const ADDED = 100
const LISTED_MOST_SECONDS = 1
const PEAK_MOST_MIB = 400
/** The maximum for "well below one" round trip for each ROM. */
const STATEMENTS_MOST_PER_ROM = 0.5
const PROVIDERS_MOST_RATIO = 1.2
/** Maximum time relative to a minimal program that walks, hashes and inserts the same rows. */
const FIRST_MOST_RATIO = 1.3
/** Maximum time relative to a minimal program that walks, reads those rows and compares. */
const QUICK_MOST_RATIO = 2
/** Maximum time relative to the same scan without listeners. */
const LISTENED_MOST_RATIO = 1.05
const DELAY_MOST_MS = 100

function memoryTarget ({ memory }: ScanMeasure): Target[] {
  if (memory.peak === null) return []
  return [{ what: 'peak memory of the scan worker', is: memory.peak, most: PEAK_MOST_MIB, unit: ' MiB' }]
}

function commonFigures (measure: ScanMeasure, library: Library): Record<string, number | string> {
  const { seconds, processorSeconds, memory, events, statements, notifications, transactions } = measure
  return {
    seconds,
    'ROMs/s': library.roms / seconds,
    'files/s': library.files / seconds,
    ...(processorSeconds === null ? {} : { 'processor seconds of the scan worker and its hashing': processorSeconds }),
    ...(measure.hashingPeak === null ? {} : { 'peak memory of the process that hashes, MiB': measure.hashingPeak }),
    ...(memory.before === null ? {} : { 'memory of the scan worker before, MiB': memory.before }),
    'statements for each ROM': statements / library.roms,
    'statements for each ROM, without those of events': (statements - notifications) / library.roms,
    'transactions for each ROM': transactions / library.roms,
    'events a client got': events
  }
}

/** Checks that a scan skipped nothing, because it would not have done the measured work. */
function check ({ stats, problems }: ScanMeasure, library: Library, expected: Record<string, number>): void {
  for (const [name, amount] of Object.entries({ scanned_roms: library.roms, ...expected })) {
    if (stats[name] !== amount) throw new Error(`The scan counts ${stats[name]} ${name}, but there are ${amount}`)
  }
  if (problems > 0) throw new Error(`The scan left ${problems} files out`)
}

/** Selects targets that only apply to a library of many small files. */
const ofMany = ({ roms }: Library, ...targets: Target[]) => roms >= TARGET_ROMS ? targets : []
const mibOf = ({ bytes }: Library) => bytes / 1024 ** 2

function describeFirst (measure: ScanMeasure, library: Library, minimal: Timing): Measurement {
  const { seconds } = measure
  return {
    name: `first scan of ${library.roms} ROMs, ${Math.round(mibOf(library))} MiB in ${library.platforms.length} platforms, no providers`,
    figures: {
      ...commonFigures(measure, library),
      'MiB/s': mibOf(library) / seconds,
      'seconds of a minimal program (walk, hash, insert)': minimal.seconds
    },
    targets: [
      { what: 'times the minimal program', is: seconds / minimal.seconds, most: FIRST_MOST_RATIO },
      ...ofMany(library, { what: 'ROMs/s', is: library.roms / seconds, least: FIRST_LEAST_ROMS_PER_SECOND }),
      { what: 'statements for each ROM', is: measure.statements / library.roms, most: STATEMENTS_MOST_PER_ROM },
      ...memoryTarget(measure)
    ],
    notes: []
  }
}

function describeQuick (measure: ScanMeasure, library: Library, minimal: Timing): Measurement {
  return {
    name: `quick re-scan of the unchanged ${library.roms} ROMs`,
    figures: { ...commonFigures(measure, library), 'seconds of a minimal program (walk, read, compare)': minimal.seconds },
    targets: [
      { what: 'times the minimal program', is: measure.seconds / minimal.seconds, most: QUICK_MOST_RATIO },
      ...ofMany(library, { what: 'seconds', is: measure.seconds, most: QUICK_MOST_SECONDS }),
      ...memoryTarget(measure)
    ],
    notes: []
  }
}

/** Adds files to one platform of a scanned library, and measures the time until a quick scan lists their ROMs. */
async function measureAdded (server: BenchServer, library: Library): Promise<Measurement> {
  const [platform = ''] = library.platforms
  for (let file = 0; file < ADDED; file++) writeFileSync(join(library.dir, 'roms', platform, `An Added Game ${file}.nes`), `added ${file}`)
  const seconds = await server.scanUntilListed({ type: 'quick', apis: [] }, library.roms + ADDED)
  return {
    name: `list of ${ADDED} new ROMs among ${library.roms}, by a quick scan`,
    figures: {},
    targets: [{ what: 'seconds until all are listed', is: seconds, most: LISTED_MOST_SECONDS }],
    notes: []
  }
}

/** Measures the first scan of a library, then quick ones without and with new files, on a server after its start. */
export async function measureScans (folder: string, options: LibraryOptions): Promise<Measurement[]> {
  mkdirSync(folder, { recursive: true })
  const library = await buildLibrary(join(folder, 'library'), options)
  const dataDir = join(folder, 'data')
  return await withServer(dataDir, library.dir, async (server) => {
    const input: MinimalScanInput = { dir: library.dir, databaseUrl: server.databaseUrl }
    const minimal = await runProgram<MinimalScans>('minimal-scan.ts', input)
    const first = await server.scan({ type: 'quick', apis: [] })
    check(first, library, { new_roms: library.roms, new_files: library.files })
    const quick = await server.scan({ type: 'quick', apis: [] })
    check(quick, library, { new_roms: 0, updated_roms: 0 })
    const added = await measureAdded(server, library)
    return [describeFirst(first, library, minimal.first), describeQuick(quick, library, minimal.again), added]
  })
}

/** Measures the first scan of a library, on a server after its first start, beside the minimal scan. */
async function scanFirst (folder: string, library: Library, options: ServerOptions) {
  return await withServer(folder, library.dir, async (server) => {
    const scanLeast = async () => await runProgram<MinimalScans>('minimal-scan.ts', { dir: library.dir, databaseUrl: server.databaseUrl })
    // The minimal scan runs first, so that both meet the same conditions. In a very first scan it runs later, because
    // the server would otherwise have started completely.
    const before = options.isVeryFirst === true ? null : await scanLeast()
    const measure = await server.scan({ type: 'quick', apis: [] })
    check(measure, library, { new_roms: library.roms, new_files: library.files })
    const { first: minimal } = before ?? await scanLeast()
    return { measure, minimal }
  }, options)
}

/**
 * Measures the first scan of a typical mix of plain files, archives and folders, then the same on a starting server.
 */
export async function measureMixed (folder: string, options: LibraryOptions): Promise<Measurement[]> {
  const library = await buildLibrary(join(folder, 'mixed'), options)
  const measurements: Measurement[] = []
  for (const isVeryFirst of [false, true]) {
    const { measure, minimal } = await scanFirst(join(folder, isVeryFirst ? 'starting' : 'started'), library, { isVeryFirst })
    const ratio = measure.seconds / minimal.seconds
    measurements.push({
      name: `first scan of ${library.roms} ROMs, packed as people have them${isVeryFirst ? ', while the server starts' : ''}`,
      figures: { ...commonFigures(measure, library), 'seconds of a minimal program': minimal.seconds },
      targets: [{ what: 'times the minimal program', is: ratio, most: FIRST_MOST_RATIO }, ...memoryTarget(measure)],
      notes: []
    })
  }
  return measurements
}

/** Measures the first scan of a library with this number of sockets that listen, beside the same scan without. */
export async function measureListeners (
  folder: string, options: LibraryOptions, listeners: number
): Promise<Measurement> {
  const library = await buildLibrary(join(folder, 'listened'), options)
  const alone = await scanFirst(join(folder, 'alone'), library, {})
  const { measure } = await scanFirst(join(folder, 'heard'), library, { listeners })
  const { delays: { p50, p99, deliveries } } = measure
  return {
    name: `first scan of ${library.roms} ROMs while ${listeners} sockets listen`,
    figures: {
      ...commonFigures(measure, library), deliveries, 'seconds with nobody there': alone.measure.seconds,
      'ms after the first client, p50': p50
    },
    targets: [
      { what: 'ms after the first client, p99', is: p99, most: DELAY_MOST_MS },
      { what: 'times the scan with nobody there', is: measure.seconds / alone.measure.seconds, most: LISTENED_MOST_RATIO }
    ],
    notes: []
  }
}

/** Measures a scan of `roms` small files with local providers that answer slowly. */
export async function measureProviders (folder: string, roms: number): Promise<Measurement> {
  const library = await buildLibrary(join(folder, 'identified'),
    { roms, smallKib: 4, platforms: 2, archives: 0, folders: 0, seed: 2 })
  const dataDir = join(folder, 'providers')
  mkdirSync(dataDir, { recursive: true })
  const sources = await startProviderServers()
  try {
    installProviders(dataDir, sources.urls)
    const measure = await withServer(dataDir, library.dir, async (server) => await server.scan({ type: 'quick', apis: PROVIDERS }))
    check(measure, library, { new_roms: roms, identified_roms: roms, failed_lookups: 0 })
    const limit = roms * LATENCY_MS / 1_000 / CONCURRENCY
    return {
      name: `first scan of ${roms} ROMs with ${PROVIDERS.length} providers of ${LATENCY_MS} ms, ${CONCURRENCY} requests at once each`,
      figures: {
        ...commonFigures(measure, library),
        'requests answered': sources.count(),
        'seconds the slowest provider needs': limit
      },
      targets: [
        { what: "times the slowest provider's own limit", is: measure.seconds / limit, most: PROVIDERS_MOST_RATIO },
        ...memoryTarget(measure)
      ],
      notes: []
    }
  } finally {
    sources.close()
  }
}
