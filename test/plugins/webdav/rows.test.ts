import t from 'tap'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import {
  countLive, countOwnBytes, dropDeleted, hasSlot, insertPaths, lockPath, selectAllDiskPaths, selectDiskPaths,
  selectFormer, selectUnclaimed, storeDeletion, storeObserved
} from '../../../plugins/webdav/rows.ts'
import { openDb } from '../../open-db.ts'
import { createTestDatabase } from '../../support.ts'

const { db, close } = await openDb(await createTestDatabase(t))
t.teardown(close)
await db.query(`insert into users (id, username, role) values (1, 'alice', 'user'), (2, 'bob', 'user');
  insert into libraries (id, name, root) values (1, 'one', '/one');
  insert into platforms (id, slug, fs_slug, name) values (1, 'gb', 'gb', 'GB');
  insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext) values (1, 1, 'a', 'gb', 'a', 'a');
  insert into assets (id, kind, user_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path, deleted_at, deleted_by) values
    (1, 'save', 1, 'gb', 'a', 'live', 'x', 'x', null, null), (2, 'save', 1, 'gb', 'a', 'deleted', 'x', 'x', now(), 'owner'),
    (3, 'save', 1, 'gb', 'a', 'other', 'x', 'x', null, null)`)
t.beforeEach(() => db.query('delete from webdav_files; delete from assets where id > 3'))

interface Columns {
  user_id?: number
  asset_id?: number
  disk_path?: string
  file_size_bytes?: number
  deleted_at?: string
}

async function addPath (path: string, columns: Columns = {}): Promise<number> {
  const row = { user_id: 1, path, folded: path, ...columns }
  const names = Object.keys(row).join(', ')
  const { rows: [stored] } = await db.query<{ id: number }>(
    `insert into webdav_files (${names}) select ${names} from jsonb_populate_record(null::webdav_files, $1) returning id`, [JSON.stringify(row)])
  return stored?.id ?? 0
}

const LATELY = new Date(Date.now() - 60_000).toISOString()

t.test('a path gets the save of another app unless it has content of its own', async (t) => {
  await addPath('live', { asset_id: 1 })
  await addPath('deleted', { asset_id: 2, deleted_at: LATELY })
  await addPath('file', { disk_path: 'x' })
  await addPath('of bob', { user_id: 2, asset_id: 1 })
  const paths = ['live', 'deleted', 'file', 'new', 'of bob'].map((path) => ({ path, folded: path, asset_id: 3, rom_id: 1 }))
  await insertPaths(db, 1, paths)
  const { rows } = await db.query(
    'select path, asset_id, deleted_at is null as is_live from webdav_files where user_id = 1 order by path')
  t.same(rows, [
    { path: 'deleted', asset_id: 3, is_live: true }, { path: 'file', asset_id: null, is_live: true },
    { path: 'live', asset_id: 1, is_live: true }, { path: 'new', asset_id: 3, is_live: true }, { path: 'of bob', asset_id: 3, is_live: true }
  ])
  t.match((await db.query('select asset_id from webdav_files where user_id = 2')).rows, [{ asset_id: 1 }])
})

t.test('files of a user count until they are deleted and dropped', async (t) => {
  await addPath('kept', { disk_path: 'kept', file_size_bytes: 5 })
  await addPath('deleted', { disk_path: 'deleted', file_size_bytes: 7, deleted_at: LATELY })
  await addPath('save', { asset_id: 1, file_size_bytes: 9 })
  await addPath('deleted save', { asset_id: 2 })
  await addPath('empty')
  await addPath('of bob', { user_id: 2, disk_path: 'of bob', file_size_bytes: 11, deleted_at: LATELY })
  t.equal(await countOwnBytes(db, 1), 12)
  t.equal(await countLive(db, 1), 2)
  t.same(await dropDeleted(db, 1), ['deleted'])
  t.equal(await countOwnBytes(db, 1), 5)
  t.same(await selectDiskPaths(db, 1), ['kept'])
  t.same((await selectAllDiskPaths(db)).sort(), ['kept', 'of bob'])
})

t.test('a user has a maximum of paths, of which known ones stay usable', async (t) => {
  await addPath('of bob', { user_id: 2 })
  const lock = (path: string) => inTransaction(db, (tx) => lockPath(tx, 1, { path, folded: path.toLowerCase() }, 2))
  const [one, two] = [await lock('One'), await lock('two')]
  t.type(one, 'number')
  t.not(one, two)
  t.equal(await lock('three'), null)
  t.equal(await lock('ONE'), one)
})

t.test('a deletion keeps its first time, and an upload ends it', async (t) => {
  const id = await addPath('a', { deleted_at: LATELY })
  const readTime = async () => (await db.query<{ at: Date | null }>('select deleted_at as at from webdav_files where id = $1', [id])).rows[0]?.at
  await storeDeletion(db, id, true)
  t.equal((await readTime())?.toISOString(), LATELY)
  await storeDeletion(db, id, false)
  t.equal(await readTime(), null)
})

t.test('what a list observed does not replace content that was stored meanwhile', async (t) => {
  const ids = [await addPath('same'), await addPath('changed')]
  await addPath('of the same time')
  await db.query("update webdav_files set updated_at = (select updated_at from webdav_files where path = 'same') where path <> 'changed'")
  const { rows } = await db.query<{ at: Date }>('select updated_at as at from webdav_files order by id')
  const observed = ids.map((id, index) => ({
    id, sha1: 'seen', md5: null, file_size_bytes: 1, is_deleted: true, asset_id: null, updated_at: (rows[index]?.at.getTime() ?? 0) - index
  }))
  await storeObserved(db, observed)
  const { rows: after } = await db.query('select sha1, deleted_at is null as is_live from webdav_files order by id')
  t.same(after, [{ sha1: 'seen', is_live: false }, { sha1: null, is_live: true }, { sha1: null, is_live: true }])
})

/** Adds a save in the slot `main` of the ROM, a minute older for each higher id. */
async function addSave (id: number, columns: object = {}): Promise<void> {
  const row = {
    id, kind: 'save', user_id: 1, rom_id: 1, platform_fs_slug: 'gb', rom_fs_name: 'a', file_name: `${id}.srm`, slot: 'main', sha1: `sha1 of ${id}`,
    disk_path: 'x', updated_at: timeOf(id), ...columns
  }
  const names = Object.keys(row).join(', ')
  await db.query(`insert into assets (${names}) select ${names} from jsonb_populate_record(null::assets, $1)`, [JSON.stringify(row)])
}

const timeOf = (id: number) => new Date(Date.UTC(2026, 0, 1, 0, 60 - id)).toISOString()

t.test('a former content is a version, or in another save of the slot or a conflict', async (t) => {
  await addSave(10)
  await addSave(11)
  await addSave(12, { slot: null, conflict_of: 10 })
  await addSave(13, { slot: 'other' })
  await addSave(14, { user_id: 2 })
  await addSave(15, { kind: 'state' })
  await db.query(`insert into asset_versions (asset_id, file_name, sha1, disk_path, content_updated_at) values
    (10, 'x', 'version', 'x', $1), (10, 'x', 'version', 'x', $2), (13, 'x', 'version of another', 'x', $1)`, [timeOf(20), timeOf(21)])
  const former = async (sha1: string) => {
    const time = await selectFormer(db, 10, sha1)
    return time === null ? null : new Date(time).toISOString()
  }
  t.equal(await former('version'), timeOf(20), 'the last time')
  for (const id of [11, 12]) t.equal(await former(`sha1 of ${id}`), timeOf(id))
  for (const sha1 of ['sha1 of 10', 'sha1 of 13', 'sha1 of 14', 'sha1 of 15', 'version of another', 'unknown']) t.equal(await former(sha1), null, sha1)
})

t.test('only own live saves without a path are offered as new paths', async (t) => {
  const owner = { db, caller: { id: 1, access: ADMIN_ACCESS } }
  const slots = (...names: string[]) => Promise.all(names.map((slot) => hasSlot(owner, 1, slot)))
  await addSave(10)
  await addSave(11, { slot: 'deleted', deleted_at: LATELY, deleted_by: 'owner' })
  await addSave(12, { slot: 'conflict', conflict_of: 10 })
  await addSave(13, { slot: 'gallery', kind: 'screenshot', is_gallery: true })
  await addSave(14, { slot: 'of bob', user_id: 2 })
  await addSave(15, { slot: 'no game', rom_id: null })
  await addSave(16, { slot: 'path' })
  await addSave(17, { slot: 'path' })
  await addSave(18, { slot: 'older' })
  await addPath('path', { asset_id: 17 })
  t.same((await selectUnclaimed(owner, null)).map(({ id }) => id), [10, 18])
  t.same((await selectUnclaimed(owner, 1)).map(({ id }) => id), [10, 18])
  t.same(await selectUnclaimed(owner, 2), [])
  t.same(await slots('main', 'path', 'deleted', 'gallery', 'of bob', 'no game'), [true, true, false, false, false, false])
})
