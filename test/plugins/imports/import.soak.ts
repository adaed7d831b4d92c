import t from 'tap'
import { until } from '../../until.ts'
import { shareTestApp } from '../../support.ts'
import { createForm } from '../assets/support.ts'
import { createMemoryImporter, make } from './memory-importer.ts'
import { LIBRARY, importRecords, logged, readTables, scan } from './import-support.ts'

const fresh = shareTestApp(t, { worker: true, env: { SVC_TOKEN_PREFIXES: 'rmm_' }, log: (line) => { logged.push(JSON.stringify(line)) } })

t.test('a dry run that waits for its source delays no request', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { app, admin } = test
  await scan(test)
  const { rows: [rom] } = await app.pg.query<{ id: number }>("select id from roms where fs_name = 'Game 1.sfc'")
  const romId = rom?.id ?? 0
  const memory = createMemoryImporter({
    group: [make.group({ id: '1' })],
    user: [make.user({ id: '1', username: 'admin' }), make.user({ id: '2' })],
    platform: [make.platform({ id: '1', description: 'text' })],
    rom: [make.rom({ id: '1', provider_ids: { igdb: '7' }, name: 'Name', locked: ['name'] })],
    hidden: [{ entity: 'roms', entity_id: '1', user_id: '2', group_id: null }],
    mark: [make.mark({ rating: 4 })],
    note: [make.note({ id: '1' })],
    device: [make.device({ id: 'd' })],
    asset: [make.asset({ id: '1' }), make.asset({ id: '2', file_name: '1.srm' })],
    device_sync: [{ device_id: 'd', asset_id: '1', last_synced_at: '2026-02-01T00:00:00Z', is_untracked: false }],
    play_session: [{
      id: '1', user_id: '1', device_id: 'd', rom_id: '1', sync_session_id: null, save_slot: null, duration_ms: 1_000,
      start_time: '2026-02-01T00:00:00Z', end_time: '2026-02-01T00:01:00Z', created_at: null, updated_at: null
    }],
    token: [make.token({ id: '1' })],
    collection: [make.collection({ id: '1' }), make.collection({ id: '2', user_id: '2' })],
    smart_collection: [make.smart_collection({ id: '1' })]
  }, { files: { '1.srm': 'one', '2.srm': 'two' } })
  const { promise: isRead, resolve: halt } = Promise.withResolvers<undefined>()
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<undefined>()
  const running = importRecords(test, {
    ...memory,
    async * list (kind) {
      yield * memory.list(kind)
      if (kind !== 'favorite_track') return
      halt(undefined)
      await goesOn
    }
  }, { isDryRun: true })
  await Promise.race([isRead, running])
  try {
    // Other transactions of the server end, and that of the dry run waits.
    const listLocks = async () => (await app.pg.query(`select distinct l.mode, c.relname from pg_locks l left join pg_class c on c.oid = l.relation
      where l.pid in
        (select pid from pg_stat_activity where state = 'idle in transaction' and datname = current_database())
        and (l.locktype = 'advisory'
        or c.relnamespace = 'public'::regnamespace and l.mode <> 'AccessShareLock')`)).rows
    await until(async () => (await listLocks()).length === 0, 'no lock that delays requests')
    const form = createForm([{ name: 'saveFile', fileName: '1.srm', content: 'mine' }])
    const send = async (method: 'POST' | 'PUT', url: string, payload: object, headers = {}) =>
      (await app.inject({ method, url, payload, headers: { ...admin, ...headers } })).statusCode
    t.match(await Promise.all([
      send('POST', `/api/saves?rom_id=${romId}`, form.payload, form.headers),
      send('PUT', `/api/roms/${romId}/props`, { data: { rating: 2 } }),
      send('POST', '/api/client-tokens', { name: 'mine', scopes: ['roms.read'] }),
      send('POST', '/api/users', { username: 'user2', email: 'user2@example.org', password: 'a long password', role: 'user' })
    ]), [200, 200, 201, 201])
  } finally {
    goOn(undefined)
  }
  const plan = await running
  t.match(plan.counts, {
    user: { new: 1, present: 1 }, asset: { new: 1, version: 1 }, mark: { new: 1 }, token: { new: 1 },
    collection: { new: 2 }
  })
  const { rows: [left] } = await app.pg.query('select count(*)::int as collections from collections')
  t.same(left, { collections: 0 })
})

t.test('a dry run uses no statements that were prepared for the real tables', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  // With a temporary table of their own, connections do not look names up again when another one comes.
  const warmUp = () => test.app.db.query('create temporary table if not exists warm (id int)')
  await Promise.all(Array.from({ length: 30 }, warmUp))
  const records = {
    user: Array.from({ length: 6 }, (_, id) => make.user({ id: String(id) })),
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' })],
    note: Array.from({ length: 6 }, (_, id) => make.note({ id: String(id), title: `Note ${id}` })),
    device: Array.from({ length: 6 }, (_, id) => make.device({ id: String(id) })),
    asset: Array.from({ length: 6 }, (_, id) => make.asset({ id: String(id) })),
    collection: Array.from({ length: 6 }, (_, id) => make.collection({ id: String(id), name: `List ${id}` }))
  }
  const files = Object.fromEntries(records.asset.map(({ file }) => [file.path, file.path]))
  for (const round of ['1', '2', '3', '4', '5', '6', '7', '8']) {
    await importRecords(test, createMemoryImporter(records, { files, identity: `memory:${round}` }))
  }
  const before = await readTables(test)
  const others = { ...records, user: records.user.map((user) => ({ ...user, username: `other${user.id}` })) }
  for (const round of ['one', 'two']) {
    const plan = await importRecords(test, createMemoryImporter(others, { files, identity: 'memory:9' }), { isDryRun: true })
    const { user, note, device, asset, collection } = plan.counts
    t.same([user, note, device, asset, collection].map((one) => one?.new), [6, 6, 6, 6, 6], round)
  }
  t.same(await readTables(test), before)
})

t.test('an import that stops halfway completes when it runs again', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const records = {
    user: [make.user({ id: '1' }), make.user({ id: '2' })],
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' }), make.rom({ id: '2' })],
    mark: [make.mark({ rating: 7 }), make.mark({ rom_id: '2', user_id: '2', rating: 3 })],
    asset: [1, 2, 3, 4].map((id) => make.asset({ id: String(id) })),
    collection: [make.collection({ id: '1', rom_ids: ['1', '2'] })]
  }
  const files = { '1.srm': 'one', '2.srm': 'two', '3.srm': 'three', '4.srm': 'four' }
  const stopped = ['user', 'rom', 'mark', 'asset', 'collection'] as const
  for (const kind of stopped) {
    const stop = new AbortController()
    const importer = createMemoryImporter(records, { files, onRecord: (one) => { if (one === kind) stop.abort(new Error('stopped')) } })
    await t.rejects(importRecords(test, importer, { signal: stop.signal }), { message: 'stopped' })
  }
  const report = await importRecords(test, createMemoryImporter(records, { files }))
  t.same(report.skipped, [])
  const { rows: [counts] } = await test.app.pg.query(`select (select count(*)::int from users where username like 'user%') as users,
    (select count(*)::int from rom_users) as marks, (select count(*)::int from assets) as assets,
    (select count(*)::int from collection_roms) as members`)
  t.same(counts, { users: 2, marks: 2, assets: 4, members: 2 })
})
