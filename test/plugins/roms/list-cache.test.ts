import { mock } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Value } from '@sinclair/typebox/value'
import fastify from 'fastify'
import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { OUT_OF_TIME } from '../../../core/database/errors.ts'
import { limitRequests } from '../../../core/database/request-time.ts'
import { romAssets } from '../../../plugins/assets/rom-assets.ts'
import { createLibraryCache } from '../../../plugins/library-versions/library-cache.ts'
import { type VersionSnapshot, type VersionKind, selectVersions } from '../../../plugins/library-versions/version-rows.ts'
import { listNamedQueries } from '../../../plugins/roms/filters/id-queries.ts'
import { ListRomsQuery } from '../../../plugins/roms/filters/list-query.ts'
import { createListCache } from '../../../plugins/roms/lists/list-cache.ts'
import { readOrder } from '../../../plugins/roms/lists/list-order.ts'
import { prepareConditions } from '../../../plugins/roms/lists/query-conditions.ts'
import { type TestApp, blockedBy, buildTestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from './support.ts'
import { all, get, idOf, readAll, type Page } from './list-cache-support.ts'

const fresh = shareTestApp(t)

t.test('cached values of one caller are given to no other', async (t) => {
  const test = await fresh(t)
  const [alice, bob] = [await test.createUser('alice'), await test.createUser('bob')]
  const a = await addRom(test, { fs_name: 'A (USA).sfc' })
  const b = await addRom(test, { fs_name: 'B (Japan).gb', platform: 'gb', fields: { min_age: 18 } })
  const hide = 'insert into hidden_entities (entity, entity_id, user_id) values ($1, $2, $3)'
  await test.app.pg.query(hide, ['roms', a, await idOf(test, 'alice')])
  await test.app.pg.query('update users set age_limit = 12 where username = $1', ['bob'])
  const everything = all([a, b], ['Japan', 'USA'], [1, 1])
  t.same(await readAll(test, test.admin), everything)
  t.same(await readAll(test, alice), all([b], ['Japan'], [1, 0]), 'without what is hidden')
  t.same(await readAll(test, bob), all([a], ['USA'], [0, 1]), 'within the age limit')
  t.same(await readAll(test, test.admin), everything, 'from what is kept')
  await test.app.pg.query('update users set age_limit = null where username = $1', ['bob'])
  t.same(await readAll(test, bob), everything, 'a right that changed is another key')
})

t.test('after a sleep of the machine, lists no longer rely on the log of changes', async (t) => {
  const test = await fresh(t)
  const [a, b] = [await addRom(test, { fs_name: 'A (USA).sfc' }), await addRom(test, { fs_name: 'B (USA).sfc' })]
  t.same((await get<Page>(test, test.admin, 'roms')).rom_id_index, [a, b])
  await test.app.pg.query("update roms set name_sort_key = 'z' where id = $1", [a])
  await test.app.pg.query('delete from rom_changes')
  const awake = Date.now.bind(Date)
  t.intercept(Date, 'now', { value: () => awake() + 13 * 3_600_000 })
  t.same((await get<Page>(test, test.admin, 'roms')).rom_id_index, [b, a])
})

t.test('grouped lists and those of marks follow the marks', async (t) => {
  const test = await fresh(t)
  const a = await addRom(test, { fs_name: 'A (USA).sfc', matches: { igdb: 1 } })
  const b = await addRom(test, { fs_name: 'A (Japan).sfc', matches: { igdb: 1 } })
  const mark = (id: number, payload: object) => test.app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: test.admin, payload })
  const list = async (query: string) => (await get<Page>(test, test.admin, `roms?${query}`)).rom_id_index
  const [shown = 0] = await list('group_by_meta_id=true')
  const hidden = shown === a ? b : a
  await mark(hidden, { is_main_sibling: true })
  t.same(await list('group_by_meta_id=true'), [hidden])
  t.same(await list('statuses=finished'), [])
  await mark(a, { status: 'finished', rating: 3 })
  t.same(await list('statuses=finished'), [a])
  await mark(b, { status: 'finished', rating: 5 })
  t.same(await list('order_by=rating&order_dir=desc'), [b, a])
  await mark(a, { rating: 9 })
  t.same(await list('order_by=rating&order_dir=desc'), [a, b])
})

t.test('a statement that deletes many games leaves their siblings in grouped lists', async (t) => {
  const test = await fresh(t)
  const { pg } = test.app
  await addRom(test, { fs_name: 'Other.sfc' })
  const add = (name: string) => pg.query(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    select p.id, $1 || n || '.sfc', 'roms', $1 || n, $1 || n from generate_series(1, 600) n cross join platforms p`, [name])
  await add('A')
  await add('B')
  await pg.query(`insert into rom_matches (rom_id, provider, provider_id, match)
    select id, provider, substr(fs_name_no_ext, 2), '{}' from roms
    cross join unnest(case left(fs_name, 1) when 'A' then '{igdb,moby,ss,ra}'::text[] else '{igdb}' end) provider where fs_name <> 'Other.sfc'`)
  const list = async () => (await get<Page>(test, test.admin, 'roms?group_by_meta_id=true')).total
  t.equal(await list(), 601)
  await pg.query("delete from roms where fs_name like 'A%'")
  t.equal(await list(), 601)
})

t.test('pages come from the ids of the whole list with any parameters', async (t) => {
  const test = await fresh(t)
  const ids: number[] = []
  for (const name of ['B', 'A', '7up', 'É', 'B 2']) {
    ids.push(await addRom(test, { fs_name: `${name}.sfc`, fields: { fs_size_bytes: ids.length } }))
  }
  const none = 'with_total=false&with_char_index=false&with_rom_id_index=false&with_filter_values=false'
  for (const order of ['', 'order_by=created_at', 'order_by=fs_size_bytes&order_dir=desc', 'order_by=id&order_dir=desc', 'genres_logic=none&genres=x']) {
    const whole = (await get<Page>(test, test.admin, `roms?${order}`)).rom_id_index
    t.same(whole.toSorted((a, b) => a - b), ids)
    for (const sidecars of ['', none]) {
      const pages = [0, 2, 4, 6].map((offset) => get<Page>(test, test.admin, `roms?${order}&limit=2&offset=${offset}&${sidecars}`))
      t.same((await Promise.all(pages)).flatMap((page) => page.items.map(({ id }) => id)), whole, `${order} ${sidecars}`)
    }
  }
})

/** Returns the time of the last statement that reads whole lists. */
async function readListsAt ({ pg: database }: TestApp['app']): Promise<string | null | undefined> {
  const select = "select max(query_start)::text as at from pg_stat_activity where application_name = 'svc lists' and datname = current_database()"
  return (await database.query<{ at: string | null }>(select)).rows[0]?.at
}

t.test('equal orders share one list, and a total needs no list in its own order', async (t) => {
  const test = await fresh(t)
  for (const name of ['B', 'A', 'C']) await addRom(test, { fs_name: `${name}.sfc` })
  const readAt = () => readListsAt(test.app)
  const whole = await get<Page>(test, test.admin, 'roms?genres=x&genres_logic=none')
  const at = await readAt()
  t.type(at, 'string')
  t.same((await get<Page>(test, test.admin, 'roms?genres=x&genres_logic=none&order_by=name&order_dir=ASC')).rom_id_index, whole.rom_id_index)
  const page = await get<Page>(test, test.admin,
    'roms?genres=x&genres_logic=none&order_by=created_at&order_dir=desc&with_char_index=false&with_rom_id_index=false&with_filter_values=false')
  t.same([page.total, page.items.map(({ id }) => id)], [3, whole.rom_id_index.toSorted((a, b) => b - a)])
  t.equal(await readAt(), at, 'nothing was read for all ROMs')
  await get<Page>(test, test.admin, 'roms?genres=x&genres_logic=none&order_by=created_at')
  t.not(await readAt(), at)
})

/** Creates a cache of lists that picks them from longer ones, as if they had many ROMs. */
function createCacheOfMany ({ roms, longReads, shortReads, db }: TestApp['app'], maxBytes?: number) {
  const { providers } = roms
  const cache = createListCache({ longReads, shortReads, identifying: providers.identifying, fewRoms: 0, maxBytes })

  async function read (changes: Partial<ListRomsQuery>, versions: VersionSnapshot): Promise<number[]> {
    const { query, order } = readOrder({ ...Value.Create(ListRomsQuery), ...changes }, providers)
    const extensions = { providers, userFiles: romAssets }
    const conditions = await prepareConditions({ db, caller: null }, extensions, { query, order })
    return [...(await cache.index(conditions.describe(query, { caller: null, versions }), order)).toIds()]
  }
  return { cache, read }
}

t.test('a list that is picked while a ROM is added has the ROM afterwards', async (t) => {
  const { app, ...test } = await fresh(t)
  const ids = [await addRom({ app, ...test }, { fs_name: 'A.sfc', fields: { genres: ['Quiz'] }, matches: { igdb: 1 } })]
  const { read } = createCacheOfMany(app)
  const { db } = app
  const before = await selectVersions(db, null)
  t.same(await read({}, before), ids)
  ids.push(await addRom({ app, ...test }, { fs_name: 'B.sfc', fields: { genres: ['Quiz'] }, matches: { igdb: 2 } }))
  const lists = [{ genres: ['Quiz'] }, { matched: true }, { group_by_meta_id: true }]
  for (const list of lists) await read(list, before)
  for (const list of lists) t.same(await read(list, await selectVersions(db, null)), ids, JSON.stringify(list))
})

t.test('other lists never evict the list of all ROMs, from which more are picked', async (t) => {
  const { app, ...test } = await fresh(t)
  const ids = [await addRom({ app, ...test }, { fs_name: 'A.sfc' }), await addRom({ app, ...test }, { fs_name: 'B.sfc' })]
  const { read } = createCacheOfMany(app, 15_000)
  const versions = await selectVersions(app.db, null)
  await read({}, versions)
  for (let year = 2000; year < 2020; year++) await read({ updated_after: `${year}-01-01T00:00:00Z` }, versions)
  const at = await readListsAt(app)
  t.same(await read({ order_dir: 'desc' }, versions), ids.toReversed())
  t.equal(await readListsAt(app), at)
  await read({ updated_after: '2000-01-01T00:00:00Z' }, versions)
  t.not(await readListsAt(app), at, 'one of the others was evicted')
})

t.test('first lists read only changed ROMs once the ids of their filters were prepared', async (t) => {
  const { app, ...test } = await fresh(t)
  const add = (name: string, matches = {}) => addRom({ app, ...test }, { fs_name: `${name}.sfc`, matches })
  const [a, b, c] = [await add('A', { igdb: 1 }), await add('B', { igdb: 1, ss: 2 }), await add('C')]
  const setMissing = (ids: readonly number[]) => app.pg.query('update roms set missing_from_fs = id = any($1)', [ids])
  await setMissing([a, c])
  const { cache, read } = createCacheOfMany(app)
  const before = await selectVersions(app.db, null)
  await read({}, before)
  const queries = listNamedQueries(app.roms.providers, [{ id: 1 }, { id: 2 }])
  await cache.prepare(before, queries)
  const d = await add('D', { ss: 3 })
  await setMissing([a])
  const at = await readListsAt(app)
  t.type(at, 'string')
  const after = await selectVersions(app.db, null)
  t.same(await read({}, after), [a, b, c, d])
  t.same(await read({ matched: false }, after), [c])
  t.same(await read({ missing: true }, after), [a])
  t.same(await read({ duplicate: true, missing: false }, after), [b])
  t.same(await read({ metadata_providers: ['igdb', 'ss'], metadata_providers_logic: 'all' }, after), [b])
  t.same(await read({ metadata_providers: ['ss'], library_ids: [1] }, after), [b, d])
  t.equal(await readListsAt(app), at)
})

t.test('cached ids are sent plain, and in one gzip stream with the page before them', async (t) => {
  const test = await fresh(t)
  const ids = [await addRom(test, { fs_name: 'A.sfc', fields: { name: 'Ä' } }), await addRom(test, { fs_name: 'B.sfc' })]
  for (const path of ['/api/roms', '/api/roms/identifiers']) {
    const ask = (encoding: string) => test.app.inject({ url: path, headers: { ...test.admin, 'accept-encoding': encoding } })
    const plain = await ask('identity')
    t.equal(plain.headers['content-encoding'], undefined)
    t.match(path === '/api/roms' ? plain.json<Page>().rom_id_index : plain.json(), ids)
    for (const again of ['gzip', 'br, gzip;q=0.5']) {
      const packed = await ask(again)
      t.match(packed.headers, { 'content-encoding': 'gzip', vary: /Accept-Encoding/, 'content-type': 'application/json; charset=utf-8' })
      t.equal(gunzipSync(packed.rawPayload).toString(), plain.body)
    }
  }
})

t.test('a change counts once committed, and writers do not wait for each other', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'A.sfc' })
  await addRom(test, { fs_name: 'B.sfc' })
  const settings = { connectionString: test.databaseUrl, lock_timeout: 5_000 }
  const clients = [1, 2].map((id) => ({ id, client: new pg.Client(settings) }))
  t.teardown(() => Promise.all(clients.map(({ client }) => client.end())))
  const edits = async () => (await selectVersions(test.app.db, null)).versions.get('edits') ?? 0
  const before = await edits()
  for (const { id, client } of clients) {
    await client.connect()
    await client.query('begin')
    await client.query("update roms set name = 'x' where id = $1", [id])
    await client.query("update roms set name = 'y' where id = $1", [id])
  }
  t.equal(await edits(), before, 'nothing is to be seen yet')
  for (const { client } of clients.toReversed()) {
    const former = await edits()
    await client.query('commit')
    t.equal(await edits(), former + 1, 'once for each transaction')
  }
})

t.test('writes of the scan worker have their own version until a task ends', async (t) => {
  const test = await fresh(t)
  const id = await addRom(test, { fs_name: 'A.sfc' })
  const worker = new pg.Client({ connectionString: test.databaseUrl, application_name: 'svc worker' })
  await worker.connect()
  t.teardown(() => worker.end())
  const versions = async () => (await selectVersions(test.app.db, null)).versions
  const count = async (sql: string) => {
    const before = await versions()
    await worker.query(sql)
    const after = await versions()
    return (['edits', 'scans'] as const).map((kind) => (after.get(kind) ?? 0) - (before.get(kind) ?? 0))
  }
  t.same(await count(`update roms set name = 'x' where id = ${id}`), [0, 1])
  t.same(await count("insert into tasks (id, title, type, status) values (gen_random_uuid(), 'Scan', 'scan', 'started')"), [0, 0])
  t.same(await count("update tasks set meta = '{}'"), [0, 0])
  t.same(await count("update tasks set status = 'finished'"), [1, 0])
})

const momentOf = (at: number, versions: Partial<Record<VersionKind, number>>): VersionSnapshot =>
  ({ at, versions: new Map(Object.entries(versions) as [VersionKind, number][]) })
const KEY = { caller: 'one', of: 'all' }
const createTexts = (maxBytes = 10_000) => createLibraryCache<string>({ maxBytes, sizeOf: (text) => text.length })

t.test('changes of a running scan expire a cached value late, all others at once', async (t) => {
  const kept = createTexts()
  let made = 0
  const ask = (at: number, versions: Partial<Record<VersionKind, number>>) =>
    kept.get(momentOf(at, versions), { ...KEY, kinds: ['shown'] }, async () => String(++made))
  t.equal(await ask(0, { edits: 1, scans: 1 }), '1')
  t.equal(await ask(99, { edits: 1, scans: 2 }), '1', 'the scan went on')
  t.equal(await ask(101, { edits: 1, scans: 2 }), '2', 'people wait for new games')
  t.equal(await ask(90_000, { edits: 1, scans: 2 }), '2', 'nothing changed')
  t.equal(await ask(90_000, { edits: 2, scans: 2 }), '3', 'somebody changed something')
  t.equal(await ask(90_000, { edits: 2, scans: 2, shown: 1 }), '4', 'the viewer hid something')
  t.equal(await ask(90_000, { edits: 2, scans: 2, shown: 1, marks: 1 }), '4', 'which nothing here depends on')
})

t.test('only long computations in a row let a value lag far behind a scan', async (t) => {
  const kept = createTexts()
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const ask = (scans: number, seconds: number) => kept.get(momentOf(now, { scans }), KEY, async () => {
    now += seconds * 1_000
    return String(scans)
  })
  t.equal(await ask(1, 2), '1')
  t.equal(await ask(2, 2), '2', 'after the first one')
  t.equal(await ask(3, 0), '2', 'after two')
  now += 19_000
  t.equal(await ask(4, 0), '4', 'ten times as long after its start')
  now += 101
  t.equal(await ask(5, 0), '5', 'after a short one')
})

t.test('concurrent callers share one computation, and a failure is not cached', async (t) => {
  const kept = createTexts()
  const { promise, reject } = Promise.withResolvers<string>()
  const first = kept.get(momentOf(0, {}), KEY, () => promise)
  const second = kept.get(momentOf(0, {}), KEY, async () => 'anew')
  reject(new Error('out of time'))
  await t.rejects(first, { message: 'out of time' })
  t.equal(await second, 'anew', 'who has time left tries again')
  t.equal(await kept.get(momentOf(0, {}), KEY, async () => 'never made'), 'anew')
})

t.test('a computation may outlast the database timeout of a request', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  limitRequests(app, 20)
  const kept = createTexts()
  const { promise, resolve } = Promise.withResolvers<string>()
  app.get('/', ({ databaseTime: time }) => {
    time.count(() => { resolve('made') })
    return kept.get(momentOf(0, {}), KEY, () => promise)
  })
  t.match(await app.inject('/'), { statusCode: 200, body: 'made' })
})

/** Creates a cache whose computations finish on command. */
function createSlowTexts () {
  const kept = createTexts()
  const ends: ((text: string) => void)[] = []
  function make (): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    ends.push(resolve)
    return promise
  }
  return {
    kept,
    ends,
    make,
    ask: (at: number, versions: Partial<Record<VersionKind, number>>) => kept.get(momentOf(at, versions), KEY, make)
  }
}

t.test('a caller that waits too long gets an error, and the next gets the value', async (t) => {
  const { ends, ask } = createSlowTexts()
  mock.timers.enable({ apis: ['setTimeout'] })
  const late = ask(0, {})
  mock.timers.tick(60_000)
  mock.timers.reset()
  await t.rejects(late, { code: OUT_OF_TIME })
  ends[0]?.('made')
  t.equal(await ask(0, {}), 'made')
  t.equal(ends.length, 1)
})

t.test('one computation per key runs at a time, and then covers all changes meanwhile', async (t) => {
  const { ends, ask } = createSlowTexts()
  const first = ask(0, { edits: 1 })
  const [second, third] = [ask(1, { edits: 2 }), ask(2, { edits: 3 })]
  t.equal(ends.length, 1)
  ends[0]?.('old')
  t.equal(await first, 'old')
  await until(() => ends.length === 2, 'it is made again')
  ends[1]?.('new')
  t.same(await Promise.all([second, third]), ['new', 'new'])
  t.equal(await ask(3, { edits: 3 }), 'new')
  t.equal(ends.length, 2)
})

t.test('during a scan no caller waits for a timely recomputation', async (t) => {
  const { ends, ask } = createSlowTexts()
  const first = ask(0, { scans: 1 })
  ends[0]?.('old')
  t.equal(await first, 'old')
  t.equal(await ask(60, { scans: 2 }), 'old')
  t.equal(ends.length, 2, 'it is being made')
  t.equal(await ask(90, { scans: 3 }), 'old')
  t.equal(ends.length, 2, 'once')
  const late = ask(150, { scans: 4 })
  ends[1]?.('new')
  t.equal(await late, 'new', 'later than that one waits')
})

t.test('getSoon waits once; later callers get nothing until the value exists', async (t) => {
  const { kept, ends, make, ask } = createSlowTexts()
  const waitMs = 1e9
  const soon = (at: number) => kept.getSoon(momentOf(at, {}), KEY, make, waitMs)
  const began = performance.now() - waitMs
  const first = ask(began, {})
  t.equal(await soon(performance.now()), null, 'it has been made for that long')
  ends[0]?.('made')
  t.equal(await first, 'made')
  t.equal(await soon(performance.now()), 'made')
  t.equal(ends.length, 1)
  const next = kept.getSoon(momentOf(performance.now(), {}), { ...KEY, of: 'other' }, make, waitMs)
  ends[1]?.('in time')
  t.equal(await next, 'in time')
})

t.test('a page skips slow filter values, and gets them after a lost connection', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'A (USA).sfc' })
  const { app } = test
  let areAsleep = true
  const sleepers = Promise.allSettled([1, 2].map(() => sql`select pg_sleep(100)`.execute(app.longReads)))
  const endSleepers = () => app.pg.query("select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(100)' and datname = current_database()")
  t.teardown(endSleepers)
  const read = () => get<Page>(test, test.admin, 'roms?with_total=false&with_char_index=false&with_rom_id_index=false')
  const page = await read()
  t.same([page.items.length, page.filter_values.regions], [1, []])
  void sleepers.then(() => { areAsleep = false })
  await until(async () => {
    await endSleepers()
    return !areAsleep
  }, 'nobody sleeps')
  // A waiting read may get the connection that just broke, and then fails with an error that asks for a retry.
  await until(async () => (await read().catch(() => null))?.filter_values.regions[0] === 'USA', 'they are there')
})

t.test('the cache has a size limit and evicts the least recently used value', async (t) => {
  const kept = createTexts(4_500)
  const ask = (of: number) => kept.get(momentOf(0, {}), { caller: 'one', of }, async () => 'x'.repeat(300))
  let again = false
  for (const list of [1, 2, 3, 1, 4]) await ask(list)
  t.ok(kept.bytes() <= 4_500, String(kept.bytes()))
  await kept.get(momentOf(0, {}), { caller: 'one', of: 1 }, async () => { again = true; return '' })
  t.notOk(again)
  await kept.get(momentOf(0, {}), { caller: 'one', of: 2 }, async () => { again = true; return '' })
  t.ok(again)
})

t.test('the least recently used of many empty lists is evicted too', async (t) => {
  const kept = createTexts(100_000)
  let made = 0
  const ask = (of: number) => kept.get(momentOf(0, {}), { caller: 'one', of }, async () => { made++; return '' })
  for (let list = 0; list < 1_000; list++) await ask(list)
  await ask(0)
  t.equal(made, 1_001)
})

t.test('a search for "any" and an empty virtual collection have lists of their own', async (t) => {
  const test = await fresh(t)
  const [a, b] = [await addRom(test, { fs_name: 'Anything.sfc' }), await addRom(test, { fs_name: 'B.sfc' })]
  const list = async (query: string) => (await get<Page>(test, test.admin, `roms?${query}`)).rom_id_index
  t.same(await list('virtual_collection_id='), [])
  t.same(await list('virtual_collection_id=any'), [])
  t.same(await list('search_term=any'), [a])
  t.same(await list('selected_genre=&selected_status='), [a, b])
  t.same(await list(''), [a, b])
  t.same(await list('search_term=any'), [a])
})

t.test('a ROM stored while a list is picked from a cached one appears in it', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'A.sfc' })
  const copy = (numbers: string) => `insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, name, name_sort_key)
    select platform_id, n || '.sfc', fs_path, n, n, 'Game ' || n, 'game ' || n from roms, generate_series(${numbers}) n where name = 'A'`
  await test.app.pg.query(copy('1, 2100'))
  const total = async (query: string) => (await get<Page>(test, test.admin, `roms?${query}`)).total
  t.equal(await total(''), 2_101)
  const writer = new pg.Client({ connectionString: test.databaseUrl })
  await writer.connect()
  t.teardown(() => writer.end())
  await writer.query('begin')
  await writer.query('lock rom_names')
  const picked = total('search_term=game&with_filter_values=false')
  await until(async () => (await writer.query(blockedBy('rom_names'))).rows.length > 0, 'the search waits')
  await writer.query(copy('2101, 2101'))
  await writer.query('commit')
  await picked
  t.equal(await total('search_term=game'), 2_101)
})

t.test('a smart collection that is edited while its list is read is read again', async (t) => {
  const test = await fresh(t)
  const [a, b] = [await addRom(test, { fs_name: 'A.sfc' }), await addRom(test, { fs_name: 'B.sfc' })]
  await test.app.pg.query("insert into smart_collections (user_id, name, filter_criteria) values ($1, 'One', $2)", [await idOf(test, 'admin'), { search_term: 'A' }])
  const list = async () => (await get<Page>(test, test.admin, 'roms?smart_collection_id=1&with_filter_values=false')).rom_id_index
  t.same(await list(), [a])
  const writer = new pg.Client({ connectionString: test.databaseUrl })
  await writer.connect()
  t.teardown(() => writer.end())
  await writer.query('begin')
  await writer.query('lock library_versions')
  const former = list()
  await until(async () => (await writer.query(blockedBy('library_versions'))).rows.length > 0, 'it reads the versions')
  await writer.query('update smart_collections set filter_criteria = $1', [{ search_term: 'B' }])
  await writer.query('commit')
  await former
  t.same(await list(), [b])
})

t.test('lists of guests follow the rules and the age limit of the default group', async (t) => {
  const test = await buildTestApp(t, { env: { KIOSK_MODE: 'true' } })
  const a = await addRom(test, { fs_name: 'A.sfc', fields: { min_age: 6 } })
  const b = await addRom(test, { fs_name: 'B.sfc', fields: { min_age: 18 } })
  const c = await addRom(test, { fs_name: 'C.sfc', fields: { min_age: 6 } })
  await test.app.pg.query("insert into hidden_entities (entity, entity_id, group_id) select 'roms', $1, id from permission_groups where is_default", [c])
  const list = async (query: string) => (await get<Page>(test, {}, `roms?${query}`)).rom_id_index
  t.same(await list(''), [a, b])
  await test.app.pg.query('update permission_groups set age_limit = 12 where is_default')
  await until(async () => (await get<Page>(test, {}, 'roms?with_total=false&with_char_index=false&with_rom_id_index=false')).items.length === 1, 'the limit applies')
  t.same(await list(''), [a])
})
