import t from 'tap'
import { type RomToDelete, deleteRoms } from '../../../plugins/deletion/rows.ts'
import { deleteItems, selectEntry, selectHalfDone, selectOld, selectWithoutCover } from '../../../plugins/trash/rows.ts'
import { openDb } from '../../open-db.ts'
import { createTestDatabase } from '../../support.ts'

const { db, close } = await openDb(await createTestDatabase(t), 1)
t.teardown(close)
await db.query(`insert into libraries (id, name, root) values (1, 'one', '/one'), (2, 'two', '/two');
  insert into platforms (id, slug, fs_slug, name) values (1, 'gb', 'gb', 'GB')`)

const FOLDER = 'roms/gb'

/** Adds ROMs with the ids 1, 2, … and these columns. */
async function addRoms (...rows: object[]): Promise<void> {
  await db.query('delete from roms; delete from former_roms; delete from trash_items')
  for (const [index, row] of rows.entries()) {
    const name = `${index + 1}.gb`
    const columns = {
      id: index + 1, library_id: 1, platform_id: 1, fs_path: FOLDER, fs_name: name, fs_name_no_tags: name,
      fs_name_no_ext: name, ...row
    }
    await insert('roms', columns)
  }
}

/** Adds an item of the ROM with this id to the trash. */
async function addItem (romId: number, columns: object = {}): Promise<number> {
  return await insert('trash_items', {
    kind: 'rom', rom_id: romId, library_id: 1, platform_id: 1, platform_fs_slug: 'gb', name: 'x', entry: 'entry', fs_path: FOLDER,
    file_path: FOLDER, file_name: `${romId}.gb`, ...columns
  })
}

async function insert (table: string, row: object): Promise<number> {
  const names = Object.keys(row).join(', ')
  const { rows: [stored] } = await db.query<{ id: number }>(
    `insert into ${table} (${names}) select ${names} from jsonb_populate_record(null::${table}, $1) returning id`, [JSON.stringify(row)])
  return stored?.id ?? 0
}

const beginRename = (romId: number) =>
  db.query("insert into rom_renames (rom_id, platform_id, fs_name) values ($1, 1, 'New name.gb')", [romId])
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

t.test('a ROM that got another name or is being renamed is not deleted', async (t) => {
  await addRoms({}, {}, {}, { library_id: 2, fs_name: '3.gb' })
  await beginRename(2)
  const toDelete = (id: number, name: string): RomToDelete =>
    ({ id, library_id: 1, platform_id: 1, platform_fs_slug: 'gb', fs_path: FOLDER, fs_name: name, is_folder: false })
  const gone = await deleteRoms(db, [toDelete(1, 'Former name.gb'), toDelete(2, '2.gb'), toDelete(3, '3.gb'), toDelete(9, '9.gb')])
  t.same([...gone], [3, 9])
  t.same((await db.query('select id from roms order by id')).rows, [{ id: 1 }, { id: 2 }, { id: 4 }])
})

t.test('no deletion counts as interrupted in another library or during a rename', async (t) => {
  await addRoms({}, { library_id: 2 }, {}, {})
  const [own] = await Promise.all([addItem(1), addItem(2), addItem(3), addItem(4, { kind: 'file' })])
  await beginRename(3)
  t.same((await selectHalfDone(db)).map(({ id }) => id), [own])
  t.same(await selectHalfDone(db, [(own ?? 0) + 1000]), [])
})

t.test('a ROM that loses one of its items keeps its artwork for the others', async (t) => {
  await addRoms({})
  const [listed, ...others] = [await addItem(1), await addItem(2), await addItem(2), await addItem(3), await addItem(3)]
  t.same(await deleteItems(db, [listed, ...others.slice(1)]), [{ rom_id: 3, platform_id: 1 }])
  t.same(await deleteItems(db, others), [{ rom_id: 2, platform_id: 1 }])
})

t.test('an item is old after an hour, and its time is over after some days', async (t) => {
  await addRoms()
  const [, hour, days] = [
    await addItem(1, { deleted_at: ago(59) }), await addItem(2, { deleted_at: ago(61) }),
    await addItem(3, { deleted_at: ago(3 * 1440 + 1) })
  ]
  const read = async (after: number, limit: number) =>
    (await selectOld(db, { after, limit, days: 3 })).map(({ id, is_over: isOver }) => [id, isOver])
  t.same(await read(0, 10), [[hour, false], [days, true]])
  t.same([await read(0, 1), await read(hour, 1)], [[[hour, false]], [[days, true]]], 'page by page')
})

t.test('an entry of the trash belongs to one library', async (t) => {
  await addRoms()
  const [own] = [await addItem(1), await addItem(2, { library_id: 2 }), await addItem(3, { entry: 'other' })]
  t.same(await selectEntry(db, 1, 'entry'), [own])
})

t.test('a ROM lacks its cover if a provider knows one and nobody locked it', async (t) => {
  const cover = 'https://example.com/cover.png'
  await addRoms({}, { url_cover: cover }, { path_cover_large: 'cover.png' }, { own_fields: ['url_cover'] }, {}, {})
  const media = (kind: string) => ({ media: [{ kind: 'screenshot', url: cover }, { kind, url: cover }] })
  for (const id of [1, 2, 3, 4, 6]) await db.query('insert into rom_matches (rom_id, provider, match) values ($1, $2, $3)', [id, 'x', media('cover')])
  await db.query('insert into rom_matches (rom_id, provider, match) values (5, $1, $2)', ['x', media('video')])
  t.same(await selectWithoutCover(db, [1, 2, 3, 4, 5]), [1])
})
