import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { virtualId } from '../../plugins/roms/virtual-collections.ts'
import { runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { startGuard } from './guard.ts'
import { OTHER_TOKEN, TOKEN, openLibraryDatabase } from './library-database.ts'
import { type BenchOptions, createBench, onlyRows } from './options.ts'
import { type Measurement, report } from './report.ts'
import { median } from './statistics.ts'

/** Measures lists as the library grows: one request at a time, first without a cache and then again and again. */
const [USUAL, LARGE, MILLION] = [46_000, 200_000, 1_000_000]
/** The disk is busy for a while after a million ROMs were written. */
const START_MS = 180_000
const ROUNDS = 15
const CHANGES = 5
/** A list that takes longer counts as never answered. */
const ROW_MS = 60_000
/** Time limit for one library on a slow machine. Rows that remain are not measured. */
const LIBRARY_MS = 600_000
const GROWTH_MAX = 2
const P50_MAX_MS = 50
const CHANGED_MAX_MS = 100
const FIRST_MAX_MS = 100
const FILTERED_MAX = 3

interface Options extends BenchOptions { only: RegExp, million?: boolean, filters?: boolean, keep?: string }

const options = createBench('lists', 'measures lists as the library grows')
  .addOption(onlyRows('some rows, by their names'))
  .option('--million', 'also with 1,000,000 ROMs')
  .option('--filters', 'also every filter and order')
  .option('--keep <folder>', 'where databases stay, to be looked at and measured again')
  .parse().opts<Options>()
const [isFiltered, isMillion] = [options.filters === true, options.million === true]
/** Shows progress beside the result. */
const say = (text: string) => { console.error(text) }

interface Row {
  name: string
  path: string
  token?: string
  /** Grows with the library, because its response contains all ids. */
  sendsAllIds?: boolean
  /** True if the first response has a time limit too. */
  isFirst?: boolean
}

/** Filters whose first list, with its total, is read from few blocks or none. */
const FIRST_LISTS = ['matched=true', 'matched=false', 'duplicate=true', 'duplicate=false', 'missing=false', 'playable=true',
  'metadata_providers=igdb&metadata_providers=ss&metadata_providers_logic=all', 'favorite=true', 'favorite=false', 'has_saves=false',
  'statuses=finished', 'collection_id=1', 'order_dir=desc&offset=20000', 'group_by_meta_id=true&matched=true']

const BARE = 'with_total=false&with_char_index=false&with_filter_values=false&with_rom_id_index=false'
const deep = (roms: number) => Math.floor(roms * 0.9)
const rowsOf = (roms: number): Row[] => [
  { name: 'list, default sidecars', path: 'roms?limit=50', sendsAllIds: true },
  { name: 'list, everything but the ids', path: 'roms?limit=50&with_rom_id_index=false' },
  { name: 'list, no sidecars', path: `roms?limit=50&${BARE}` },
  { name: 'offset of nine tenths', path: `roms?limit=50&offset=${deep(roms)}&${BARE}` },
  { name: 'search, one word', path: `roms?limit=50&search_term=dragon&${BARE}` },
  { name: 'search, two words', path: `roms?limit=50&search_term=dragon+castle&${BARE}` },
  { name: 'order_by=created_at', path: `roms?limit=50&order_by=created_at&${BARE}` },
  { name: 'order_by=fs_size_bytes', path: `roms?limit=50&order_by=fs_size_bytes&${BARE}` },
  { name: 'search, one word, with total', path: 'roms?limit=50&search_term=dragon&with_filter_values=false' },
  { name: 'two filters', path: `roms?limit=50&genres=Quiz&regions=Japan&${BARE}` },
  { name: 'two filters, with total', path: 'roms?limit=50&genres=Quiz&regions=Japan&with_filter_values=false' },
  { name: 'genres=Quiz', path: `roms?limit=50&genres=Quiz&${BARE}` },
  { name: 'group_by_meta_id', path: `roms?limit=50&group_by_meta_id=true&${BARE}` },
  { name: 'group_by_meta_id, with total', path: 'roms?limit=50&group_by_meta_id=true&with_filter_values=false&with_rom_id_index=false' },
  { name: 'another user, everything but the ids', path: 'roms?limit=50&with_rom_id_index=false', token: OTHER_TOKEN },
  { name: 'group_by_meta_id, duplicates', path: `roms?limit=50&group_by_meta_id=true&duplicate=true&${BARE}` },
  { name: '/roms/filters', path: 'roms/filters' },
  { name: '/roms/identifiers', path: 'roms/identifiers', sendsAllIds: true },
  { name: '/collections/virtual', path: 'collections/virtual?type=all&with_rom_ids=false' },
  { name: '/collections/virtual, with ids', path: 'collections/virtual?type=all&with_rom_ids=true', sendsAllIds: true },
  ...FIRST_LISTS.map((query) => ({
    name: `${query}, with total`, isFirst: true,
    path: `roms?limit=50&${query}&with_filter_values=false&with_char_index=false&with_rom_id_index=false`
  })),
  { name: '/platforms', path: 'platforms' },
  { name: '/roms/random', path: 'roms/random' }
]

/** Every filter and order, compared with the plain list. */
const FILTERS = [
  ...['matched', 'favorite', 'duplicate', 'last_played', 'playable', 'missing', 'has_ra', 'has_saves', 'has_states', 'verified',
    'has_soundtrack', 'group_by_meta_id'].flatMap((flag) => [`${flag}=true`, `${flag}=false`]),
  ...['genres=Quiz', 'franchises=Zero', 'collections=Amber', 'companies=Harbor+Works+7', 'age_ratings=M', 'regions=Japan',
    'languages=German', 'tags=Hack', 'player_counts=1-4', 'statuses=finished', 'metadata_providers=ra'].flatMap((list) =>
    ['any', 'all', 'none'].map((logic) => `${list}&${list.split('=')[0]}_logic=${logic}`)),
  'group_by_meta_id=true&genres=Quiz', 'updated_after=2026-11-01T00:00:00Z',
  'platform_ids=3', 'library_ids=1', 'collection_id=1', `virtual_collection_id=${virtualId({ type: 'franchise', name: 'Zero' })}`, 'smart_collection_id=1',
  'search_term=dr', 'search_term=dragon|castle', ...['fs_size_bytes', 'igdb_id', 'average_rating', 'first_release_date', 'regions', 'last_played',
    'rating', 'updated_at', 'fs_name', 'ss_metadata.total_rating'].flatMap((by) => [`order_by=${by}`, `order_by=${by}&order_dir=desc`])
]
const UNFILTERED = 'list, no sidecars'
const filterRows = (roms: number): Row[] => [
  ...rowsOf(roms).filter(({ name }) => name === UNFILTERED),
  ...FILTERS.map((filter) => ({ name: filter, path: `roms?limit=50&${filter}&${BARE}` }))
]

/** All times in milliseconds: that of the first response, the median of others, and the median right after a change. */
interface Times { first: number, p50: number, changed: number, bytes: number }
const NEVER: Times = { first: Infinity, p50: Infinity, changed: Infinity, bytes: 0 }
type Ends = (() => unknown)[]

const UNITS = 'first / p50 / after a change ms, kB'
const describe = ({ first, p50, changed, bytes }: Times) =>
  `${first.toFixed(0)} / ${p50.toFixed(1)} / ${changed.toFixed(1)}, ${(bytes / 1e3).toFixed(1)}`

/**
 * Repeats a request until it succeeds, because a slow machine finishes the work for a later request. Null after the
 * deadline.
 */
async function ask (pool: Pool, { path, token = TOKEN }: Row, deadline: number): Promise<number | null> {
  while (performance.now() < deadline) {
    const { statusCode, body } = await pool.request({
      method: 'GET', path: `/api/${path}`, headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
    })
    const { byteLength } = await body.arrayBuffer()
    if (statusCode === 200) return byteLength
    if (statusCode !== 503) throw new Error(`${path} was answered with ${statusCode}`)
  }
  return null
}

async function timeRow (pool: Pool, row: Row, change: () => Promise<unknown>): Promise<Times> {
  await change()
  const deadline = performance.now() + ROW_MS
  let bytes = 0
  const time = async () => {
    const started = performance.now()
    const answered = await ask(pool, row, deadline)
    if (answered === null) return Infinity
    bytes = answered
    return performance.now() - started
  }
  const first = await time()
  const others: number[] = []
  for (let round = 0; round < ROUNDS; round++) others.push(await time())
  const changed: number[] = []
  for (let round = 0; round < CHANGES; round++) {
    await change()
    changed.push(await time())
  }
  return first === Infinity ? NEVER : { first, p50: median(others), changed: median(changed), bytes }
}

/** @param change changes a ROM of the library */
async function timeRows (
  pool: Pool, rows: readonly Row[], roms: number, change: () => Promise<unknown>
): Promise<Map<string, Times>> {
  const deadline = performance.now() + LIBRARY_MS
  const times = new Map<string, Times>()
  for (const [index, row] of rows.entries()) {
    if (performance.now() > deadline) {
      say(`${roms} ROMs: no time is left for ${rows.length - index} rows`)
      break
    }
    const found = await timeRow(pool, row, change)
    say(`${roms} ROMs, ${index + 1} of ${rows.length}, ${row.name}: ${describe(found)}`)
    times.set(row.name, found)
  }
  return times
}

/** Measures rows in a library of its own. */
async function measure (roms: number, rows: readonly Row[]): Promise<Map<string, Times>> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const guard = startGuard()
  const ends: Ends = [() => { rmSync(folder, { recursive: true, force: true }) }, () => { guard.stop() }]
  try {
    guard.watch({ pids: [], folder })
    const database = await openLibraryDatabase({
      roms, folder, kept: options.keep, say, onStart: (pid) => { guard.watch({ pids: [pid], folder }) }
    })
    ends.unshift(() => database.stop())
    const data = join(folder, 'data')
    mkdirSync(join(data, 'library'), { recursive: true })
    const server = runSvc({ teardown: (end) => { if (end !== undefined) ends.unshift(end) } }, ['start'], settings(data, {
      SVC_DATABASE_URL: database.url, SVC_LIBRARY_DIR: join(data, 'library'), WEB_SERVER_CONCURRENCY: '1', SVC_LOG_LEVEL: 'warn'
    }))
    guard.watch({ pids: [server.pid, database.pid], folder })
    const pool = new Pool((await waitUntilListening(server, data, START_MS)).url, { connections: 1 })
    ends.unshift(() => pool.close())
    return await timeRows(pool, rows.filter(({ name }) => options.only.test(name)), roms,
      () => database.client.query('update roms set summary = summary where id = (select 1 + floor(random() * $1)::int)', [roms]))
  } finally {
    for (const end of ends) await end()
  }
}

type ByName = ReadonlyMap<string, Times>

function compareSizes (usual: ByName, large: ByName): Measurement {
  const measurement: Measurement = { name: 'Lists as the library grows', figures: {}, targets: [], notes: [] }
  const { figures, targets } = measurement
  for (const { name, sendsAllIds = false, isFirst = false } of rowsOf(MILLION)) {
    const [small, big] = [usual.get(name), large.get(name)]
    if (small !== undefined) figures[`${name}, ${UNITS}`] = describe(small)
    if (small === undefined || big === undefined) continue
    figures[`  ${name}, 1,000,000 ROMs`] = describe(big)
    figures[`  ${name}, ratio of p50`] = big.p50 / small.p50
    if (isFirst) targets.push({ what: `${name}: first with 1,000,000`, is: big.first, most: FIRST_MAX_MS, unit: ' ms' })
    if (sendsAllIds) continue
    targets.push({ what: `${name}: p50 with 1,000,000 / 46,000`, is: big.p50 / small.p50, most: GROWTH_MAX },
      { what: `${name}: p50 with 1,000,000`, is: big.p50, most: P50_MAX_MS, unit: ' ms' },
      { what: `${name}: after a change, with 1,000,000`, is: big.changed, most: CHANGED_MAX_MS, unit: ' ms' })
  }
  return measurement
}

function compareFilters (usual: ByName, large: ByName): Measurement {
  const roms = (isMillion ? MILLION : LARGE).toLocaleString('en')
  const measurement: Measurement = { name: `Every filter and order with ${roms} ROMs`, figures: {}, targets: [], notes: [] }
  const none = large.get(UNFILTERED) ?? NEVER
  for (const name of [UNFILTERED, ...FILTERS]) {
    const times = large.get(name)
    if (times === undefined) continue
    measurement.figures[`${name}, ${UNITS}`] = describe(times)
    if (name === UNFILTERED) continue
    const small = usual.get(name) ?? NEVER
    measurement.targets.push({ what: `${name}: p50 / that without a filter`, is: times.p50 / none.p50, most: FILTERED_MAX },
      { what: `${name}: p50 with ${roms} / 46,000`, is: times.p50 / small.p50, most: FILTERED_MAX })
  }
  return measurement
}

const rowsWith = (roms: number) => [...rowsOf(roms), ...(isFiltered ? filterRows(roms) : [])]
const usual = await measure(USUAL, rowsWith(USUAL))
const million = isMillion ? await measure(MILLION, rowsWith(MILLION)) : new Map<string, Times>()
const large = isFiltered && !isMillion ? await measure(LARGE, filterRows(LARGE)) : million
const measurements = [compareSizes(usual, million), ...(isFiltered ? [compareFilters(usual, large)] : [])]
for (const measurement of measurements) report(measurement, options)
