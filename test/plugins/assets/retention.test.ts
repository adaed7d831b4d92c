import t from 'tap'
import { deleteByAge, deleteForSpace, deleteOlderThan } from '../../../plugins/assets/clean-up/retention-rows.ts'
import { DeletedAccount } from '../../../plugins/assets/entities.ts'
import { archiveUploads, deleteExpiredAccounts, listDeletedAccounts, restoreUploads } from '../../../plugins/assets/restore/deleted-account-rows.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { openDb, setTimeZone } from '../../open-db.ts'
import { createTestDatabase } from '../../support.ts'

// In this time zone a day of UTC ends at 23:00.
const { db, close } = await openDb(setTimeZone(await createTestDatabase(t), 'Etc/GMT+1'), 2, [DeletedAccount])
t.teardown(close)
await db.query(`insert into users (id, username, role) values (1, 'alice', 'user'), (2, 'bob', 'user');
  insert into libraries (id, name, root) values (1, 'one', '/one');
  insert into platforms (id, slug, fs_slug, name) values (1, 'gb', 'gb', 'GB');
  insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext) values (1, 1, 'a', 'gb', 'a', 'a'),
    (2, 1, 'b', 'gb', 'b', 'b')`)
t.beforeEach(() => db.query('delete from assets; delete from deleted_accounts'))

const DAY_MS = 86_400_000
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
/** A time of the day that was this many days ago in UTC. */
const at = (days: number, hours: number) => new Date(TODAY - days * DAY_MS + hours * 3_600_000).toISOString()
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

const SAVE = { kind: 'save', user_id: 1, platform_fs_slug: 'gb', rom_fs_name: 'Game.gb', slot: 'main', sha1: 'x' }

async function insert (table: string, row: { disk_path: string }): Promise<number> {
  const columns = { file_name: row.disk_path, ...row }
  const names = Object.keys(columns).join(', ')
  const { rows: [stored] } = await db.query<{ id: number }>(
    `insert into ${table} (${names}) select ${names} from jsonb_populate_record(null::${table}, $1) returning id`, [JSON.stringify(columns)])
  return stored?.id ?? 0
}

/** Adds a save whose file has this name. */
const addSave = (name: string, columns: object = {}) => insert('assets', { ...SAVE, disk_path: name, ...columns })
/** Adds a save that auto-cleanup deleted. */
const addCleaned = (name: string, time: string, columns: object = {}) =>
  addSave(name, { deleted_at: time, deleted_by: 'cleanup', ...columns })
/** Adds a former content of a save. */
const addVersion = (assetId: number, name: string, time: string) =>
  insert('asset_versions', { asset_id: assetId, disk_path: name, sha1: 'x', created_at: time, content_updated_at: time } as { disk_path: string })

/** Returns the names of the files that rows name. */
async function listKept (): Promise<string[]> {
  const { rows } = await db.query<{ disk_path: string }>(
    'select disk_path from assets union all select disk_path from asset_versions order by 1')
  return rows.map((row) => row.disk_path)
}

t.test('saves that auto-cleanup deleted thin out with the former contents of their slot', async (t) => {
  const live = await addSave('live')
  await addVersion(live, 'live 10d 0h', at(10, 0))
  await addCleaned('cleaned 10d 1h', at(10, 1))
  const last = await addCleaned('cleaned 10d 2h', at(10, 2))
  await addVersion(last, 'version 11d 5h', at(11, 5))
  const older = await addCleaned('cleaned 11d 4h', at(11, 4))
  await addVersion(older, 'version 11d 3h', at(11, 3))
  const needed = await addCleaned('cleaned 11d 2h', at(11, 2))
  await addVersion(needed, 'version 12d', at(12, 5))
  const deleted = await deleteByAge(db, 1)
  t.same(deleted.sort(), ['cleaned 10d 1h', 'cleaned 11d 4h', 'live 10d 0h', 'version 11d 3h'])
  t.same(await listKept(), ['cleaned 10d 2h', 'cleaned 11d 2h', 'live', 'version 11d 5h', 'version 12d'])
})

t.test('slots, kinds, games and users have separate histories, as deleted saves do', async (t) => {
  const others = [{ slot: 'other' }, { kind: 'state' }, { user_id: 2 }, { rom_fs_name: 'Other.gb' }, { platform_fs_slug: 'nes' }]
  for (const [index, columns] of [{}, ...others].entries()) await addCleaned(`line ${index}`, at(10, 1), columns)
  const owned = { deleted_at: at(10, 3), deleted_by: 'owner' }
  await addVersion(await addSave('of the owner', owned), 'version of the owner', at(10, 1))
  for (const name of ['a', 'b']) await addVersion(await addSave(`no slot ${name}`, { slot: null }), `version ${name}`, at(10, 1))
  const before = await listKept()
  t.same(await deleteByAge(db, 1), [])
  t.same(await listKept(), before)
})

t.test('contents of the last day stay, unless space is short for their user', async (t) => {
  const sameMoment = minutesAgo(0)
  for (const user of [1, 2]) {
    const save = await addSave(`save ${user}`, { user_id: user })
    for (const name of ['first', 'second', 'third']) await addVersion(save, `${user}: ${name}`, sameMoment)
  }
  t.same(await deleteByAge(db, 1), [])
  t.same((await deleteForSpace(db, 2, 1)), ['1: first'])
})

t.test('a content that is being restored is not deleted', async (t) => {
  const save = await addSave('live')
  const [, former] = [await addVersion(save, 'newest', at(10, 5)), await addVersion(save, 'restored', at(10, 4))]
  const cleaned = await addCleaned('cleaned', at(10, 3))
  await addVersion(cleaned, 'version', at(10, 2))
  const held = await addVersion(await addCleaned('other', at(10, 1)), 'held version', at(10, 0))
  await inTransaction(db, async (tx) => {
    await tx.query('select from asset_versions where id = any($1) for update', [[former, held]])
    await tx.query('select from assets where id = $1 for update', [cleaned])
    t.same(await deleteByAge(db, 1), ['version'])
  })
  t.same(await listKept(), ['cleaned', 'held version', 'live', 'newest', 'other', 'restored'])
})

t.test('former contents and deleted saves go after the configured days', async (t) => {
  const live = await addSave('live')
  await addVersion(live, 'young', minutesAgo(5 * 1440 - 1))
  await addVersion(live, 'old', minutesAgo(5 * 1440 + 1))
  await addVersion(await addSave('deleted lately', { deleted_at: minutesAgo(5 * 1440 - 1), deleted_by: 'owner' }), 'version', at(1, 0))
  await addVersion(await addSave('deleted', { deleted_at: minutesAgo(5 * 1440 + 1), deleted_by: 'owner' }), 'its version', at(1, 0))
  t.same((await deleteOlderThan(db, 5)).sort(), ['deleted', 'its version', 'old'])
  t.same(await listKept(), ['deleted lately', 'live', 'version', 'young'])
})

/** Adds a deleted account with saves of these columns. */
async function addDeletedAccount (saves: object[], minutes = 0): Promise<number> {
  const assets = saves.map((columns, index) => ({
    ...SAVE, id: 1_000 + index, user_id: 7, file_name: 'Game.srm', disk_path: `gone ${index}`, file_size_bytes: 1, is_public: false, is_gallery: false,
    missing_from_fs: false, created_at: at(1, 0), updated_at: at(1, 0), ...columns
  }))
  const versions = assets.slice(0, 1).map(({ id, disk_path: path }) => ({
    id: 1_000, asset_id: id, file_name: 'x', file_size_bytes: 1, sha1: 'x', disk_path: `${path}, version`, content_updated_at: at(1, 0), created_at: at(1, 0)
  }))
  const { rows: [account] } = await db.query<{ id: number }>(`insert into deleted_accounts (username, assets, versions, deleted_at)
    values ('gone', $1, $2, $3) returning id`, [JSON.stringify(assets), JSON.stringify(versions), minutesAgo(minutes)])
  return account?.id ?? 0
}

t.test('the files of a deleted account go after 30 days', async (t) => {
  await addDeletedAccount([{}, {}], 30 * 1440 - 1)
  t.same(await deleteExpiredAccounts(db), [])
  await addDeletedAccount([{ disk_path: 'one' }, { disk_path: 'two' }], 30 * 1440 + 1)
  t.same((await deleteExpiredAccounts(db)).sort(), ['one', 'one, version', 'two'])
  t.equal((await db.query('select from deleted_accounts')).rowCount, 1)
})

t.test('an archived account contains its own uploads', async (t) => {
  await addVersion(await addSave('save'), 'version', at(1, 0))
  await addSave('state', { kind: 'state' })
  await addVersion(await addSave('of bob', { user_id: 2 }), 'version of bob', at(1, 0))
  await archiveUploads(db, 1)
  await archiveUploads(db, 2)
  t.match(await listDeletedAccounts(db), [
    { username: 'bob', saves: 1, states: 0, screenshots: 0 }, { username: 'alice', saves: 1, states: 1, screenshots: 0 }
  ])
  const { rows } = await db.query("select jsonb_path_query_array(versions, '$[*].disk_path') as paths from deleted_accounts order by id")
  t.same(rows, [{ paths: ['version'] }, { paths: ['version of bob'] }])
})

t.test('uploads of a deleted account return to the ROMs that are still listed', async (t) => {
  const account = await addDeletedAccount([{ rom_id: 2 }, { rom_id: 99, slot: 'other' }])
  await restoreUploads(db, account, 1)
  t.same((await db.query('select rom_id from assets order by id')).rows, [{ rom_id: 2 }, { rom_id: null }])
})

t.test('a save of a deleted account gives way only to a live one of its slot', async (t) => {
  await addSave('own', { file_name: 'Game.srm' })
  await addSave('own without a slot', { file_name: 'Game.srm', slot: null })
  await addSave('own, deleted', { file_name: 'Other.srm', deleted_at: at(1, 0), deleted_by: 'owner' })
  await addSave('of bob', { file_name: 'Other.srm', user_id: 2 })
  const alike = [{}, { slot: null }]
  const others = [{ kind: 'state' }, { slot: 'other' }, { file_name: 'Other.srm' }, { platform_fs_slug: 'nes' }, { rom_fs_name: 'Other.gb' },
    { deleted_at: at(1, 0), deleted_by: 'owner' }]
  const account = await addDeletedAccount([...alike, ...others])
  t.same(await restoreUploads(db, account, 1), { username: 'gone', restored: 8 })
  const { rows } = await db.query<{ deleted_by: string | null }>(
    'select deleted_by from assets where id >= 1000 and user_id = 1 order by id')
  t.same(rows.map((row) => row.deleted_by), ['cleanup', 'cleanup', null, null, null, null, null, 'owner'])
  t.same((await db.query('select asset_id from asset_versions')).rows, [{ asset_id: 1_000 }])
  t.equal((await db.query('select from deleted_accounts')).rowCount, 0)
})
