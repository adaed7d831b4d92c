import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { type AssetItem, listStored, md5Of, sha1Of } from './support.ts'
import { until } from '../../until.ts'
import { startCleanup } from './cleanup-support.ts'

const { test, app, sql, newRom, newUser, passFirstHour, run } = await startCleanup(t)

const base = join(test.config.data_dir, 'assets')

/** Adds a complete file of a user that no row names, two days old. */
async function addUnknown (folder: string, name: string, content = name): Promise<string> {
  const path = `${folder}/saves/snes/1/${name}`
  await mkdir(dirname(join(base, path)), { recursive: true })
  await writeFile(join(base, path), content)
  const old = new Date(Date.now() - 2 * 86_400_000)
  await utimes(join(base, path), old, old)
  return path
}

const forget = (path: string) => rm(join(base, path))

t.test('clean-up lists unknown files; only an administrator sets them aside', async (t) => {
  const owner = await newUser()
  const { folder } = owner
  const known = await Promise.all([1, 2, 3].map((i) => owner.save({ rom_id: owner.rom }, `Known ${i}.srm`, `known ${i}`)))
  const unknown = await addUnknown(folder, 'Unknown.srm')
  const young = await addUnknown(folder, 'Young.srm')
  await utimes(join(base, young), new Date(), new Date())
  const part = `${folder}/incoming/remains.part`
  await mkdir(join(base, folder, 'incoming'), { recursive: true })
  await writeFile(join(base, part), 'half')
  await utimes(join(base, part), 1, 1)
  await passFirstHour()
  t.match(await run(), { status: 'finished', stats: { unknown: 1, unknown_files: [unknown], lost: 0, strays: 1, postponed: null } })
  t.ok((await listStored(test)).includes(unknown))
  t.notOk((await listStored(test)).includes(part), 'remains of an upload belong to nobody')

  await passFirstHour()
  t.match(await run({ set_aside: true }), { status: 'finished', stats: { lost: 1, unknown: 1 } })
  const left = await listStored(test)
  t.notOk(left.includes(unknown))
  const aside = left.filter((path) => path.startsWith('lost/'))
  t.same(aside.map((path) => path.split('/').slice(2).join('/')), [unknown])
  t.ok(left.includes(young), 'one of today may still get its row')
  for (const { id } of known) t.ok(await owner.content(`/api/saves/${id}/content`))
  for (const path of [young, ...aside]) await forget(path)
})

t.test('clean-up deletes nothing in the first hour, after a clock jump or with doubts', async (t) => {
  const owner = await newUser()
  const kept = await owner.save({ rom_id: owner.rom }, 'Kept.srm', 'one')
  await owner.save({ rom_id: owner.rom }, 'Kept.srm', 'two')
  const expire = () => sql("update asset_versions set created_at = now() - interval '1 year' where asset_id = $1", [kept.id])
  await expire()
  const unknown = await addUnknown(owner.folder, 'Unknown.srm')
  const stays = async (why: RegExp) => {
    const { status, stats } = await run({ set_aside: true })
    t.equal(status, 'failed')
    t.match(stats, { expired: 0, lost: 0, strays: 0, unknown_files: [unknown], postponed: why })
    t.equal((await owner.versions(kept.id)).length, 1)
    t.ok((await listStored(test)).includes(unknown))
  }
  await passFirstHour()
  await sql('update workers set started_at = now()')
  await stays(/less than an hour/)
  for (const looked of ["now() - interval '20 years'", "now() + interval '1 day'", 'null']) {
    await passFirstHour()
    await sql(`update installation set looked_at = ${looked}`)
    await stays(/clock was changed/)
  }
  const many = await Promise.all(Array.from({ length: 30 }, (_, i) => addUnknown(owner.folder, `Foreign ${i}.srm`)))
  await passFirstHour()
  const { status, stats } = await run({ set_aside: true })
  t.match({ status, stats }, { status: 'failed', stats: { unknown: 31, lost: 0, expired: 0, postponed: /has rows for \d+ of \d+ files/ } })
  for (const path of many) await forget(path)
  await forget(unknown)
  await passFirstHour()
  t.match(await run(), { status: 'finished', stats: { expired: 1, postponed: null } })
  t.same(await owner.versions(kept.id), [])
})

t.test('clean-up deletes old files of WebDAV that no row names', async (t) => {
  const { folder, call } = await newUser()
  await call('PUT', '/webdav/config/retroarch.opt', Buffer.from('a = "1"'))
  const { rows: [row] } = await app.pg.query<{ disk_path: string }>("select disk_path from webdav_files where path = 'config/retroarch.opt'")
  const known = row?.disk_path ?? ''
  const add = async (path: string, time: number) => {
    await mkdir(dirname(join(base, path)), { recursive: true })
    await writeFile(join(base, path), 'x')
    await utimes(join(base, path), time, time)
    return path
  }
  const orphans = [await add(`${folder}/webdav/00000000-content`, 1), await add('users/of-a-deleted-account/webdav/content', 1)]
  const young = await add(`${folder}/webdav/young-content`, Date.now() / 1000)
  await utimes(join(base, known), 1, 1)
  const many = await Promise.all(Array.from({ length: 50 }, (_, i) => add(`${folder}/webdav/foreign-${i}`, 1)))
  await passFirstHour()
  t.match(await run(), { stats: { strays: 0, postponed: /has rows for \d+ of \d+ files/ } })
  for (const path of many) await forget(path)
  await passFirstHour()
  t.match(await run(), { status: 'finished', stats: { strays: 2, unknown: 0, postponed: null } })
  const left = await listStored(test)
  t.same([known, young, ...orphans].map((path) => left.includes(path)), [true, true, false, false])
  await forget(young)
})

t.test('clean-up deletes nothing with a foreign database', async (t) => {
  await passFirstHour()
  await run()
  const file = join(test.config.data_dir, 'identity')
  const own = await readFile(file, 'utf8')
  await writeFile(file, '00000000-0000-4000-8000-000000000000\n')
  await passFirstHour()
  t.equal((await run({ set_aside: true })).status, 'failed')
  await writeFile(file, own)
  await passFirstHour()
  t.equal((await run()).status, 'finished')
})

t.test('a row with a missing file gets the set-aside file with the same content', async (t) => {
  const owner = await newUser()
  const [one, two] = [await owner.save({ rom_id: owner.rom }, 'One.srm', 'the same'), await owner.save({ rom_id: owner.rom }, 'Two.srm', 'the same')]
  const other = await owner.save({ rom_id: owner.rom }, 'Other.srm', 'not alike')
  const stored = (await listStored(test)).filter((path) => path.startsWith(owner.folder))
  const [first, ...rest] = stored.filter((path) => /One|Two/.test(path))
  if (first === undefined) throw new Error('There is a file')
  await mkdir(join(base, 'lost', 'earlier'), { recursive: true })
  await rename(join(base, first), join(base, 'lost', 'earlier', 'another name'))
  for (const path of [...rest, ...stored.filter((path) => path.includes('Other'))]) await forget(path)
  await writeFile(join(base, 'lost', 'earlier', 'decoy'), 'NOT ALIKE')
  for (const { id } of [one, two, other]) t.equal((await owner.call('GET', `/api/saves/${id}/content`)).statusCode, 404)
  t.match(await run(), { stats: { recovered: 2 } }, 'in the first hour too')
  for (const { id } of [one, two]) {
    t.equal((await owner.get<AssetItem>(`/api/saves/${id}`)).missing_from_fs, false)
    t.equal(await owner.content(`/api/saves/${id}/content`), 'the same')
  }
  t.equal((await owner.call('GET', `/api/saves/${other.id}/content`)).statusCode, 404, 'the decoy only has its size')
  await rm(join(base, 'lost'), { recursive: true })
})

t.test('former contents thin out by age to one per hour, day and week', async (t) => {
  const owner = await newUser()
  const { id } = await owner.save({ rom_id: owner.rom }, 'Game.srm', 'v0')
  for (let i = 1; i <= 14; i++) await owner.save({ rom_id: owner.rom }, 'Game.srm', `v${i}`)
  // From the oldest: pairs of a week, a day and an hour, of which the later one stays; then some of today.
  const weeks = "date_trunc('week', now(), 'UTC') - interval '6 weeks'"
  const days = "date_trunc('day', now(), 'UTC') - interval '10 days'"
  const hours = "date_trunc('hour', now(), 'UTC') - interval '30 hours'"
  const place = (index: number, at: string) => sql(`update asset_versions set created_at = ${at} where id = (
    select id from asset_versions where asset_id = $1 order by id offset ${index} limit 1)`, [id])
  await place(0, `${weeks} + interval '1 day'`)
  await place(1, `${weeks} + interval '3 days'`)
  await place(2, `${days} + interval '1 hour'`)
  await place(3, `${days} + interval '2 hours'`)
  await place(4, `${hours} + interval '1 minute'`)
  await place(5, `${hours} + interval '2 minutes'`)
  for (let i = 6; i < 14; i++) await place(i, `now() - interval '${20 - i} minutes'`)
  const before = (await listStored(test)).length
  await passFirstHour()
  t.match((await run()).stats, { expired: 3, postponed: null })
  const kept = (await owner.versions(id)).map(({ sha1 }) => sha1)
  t.same(kept, [13, 12, 11, 10, 9, 8, 7, 6, 5, 3, 1].map((i) => sha1Of(`v${i}`)))
  t.equal((await listStored(test)).length, before - 3, 'their files are gone')
})

t.test('games that are gone from the library have separate histories', async (t) => {
  const owner = await newUser()
  const games = await Promise.all(['a', 'b'].map(async (name) => {
    const rom = await newRom()
    const { id } = await owner.save({ rom_id: rom, slot: 'gone' }, 'Game.srm', `${name}0`)
    const put = (content: string) => owner.send('PUT', `/api/saves/${id}`, {}, [{ name: 'saveFile', fileName: 'x', content }])
    for (let i = 1; i <= 4; i++) await put(name + i)
    return { rom, id, name }
  }))
  await sql('delete from roms where id = any($1)', [games.map(({ rom }) => rom)])
  await sql("update asset_versions set created_at = now() - interval '40 days' where asset_id = any($1)", [games.map(({ id }) => id)])
  await passFirstHour()
  t.equal((await run()).stats.postponed, null)
  for (const { id, name } of games) {
    t.same((await owner.versions(id)).map(({ sha1 }) => sha1), [3, 2, 1].map((i) => sha1Of(`${name}${i}`)))
  }
})

t.test('an upload over the quota deletes former contents before it is refused', async (t) => {
  const owner = await newUser()
  const content = (i: number) => String.fromCharCode(97 + i).repeat(15_000)
  const { id } = await owner.save({ rom_id: owner.rom }, 'Game.srm', content(0))
  for (let i = 1; i < 12; i++) await owner.save({ rom_id: owner.rom }, 'Game.srm', content(i))
  const kept = await owner.versions(id)
  t.ok(kept.length >= 3 && kept.length <= 6, `${kept.length} are left of twelve of which six fit`)
  t.equal(await owner.content(`/api/saves/${id}/content`), content(11))
  for (const version of kept) t.ok(await owner.content(`/api/saves/${id}/versions/${version.id}/content`))
  for (let i = 0; i < 3; i++) await owner.send('POST', '/api/saves', { rom_id: owner.rom }, [{ name: 'saveFile', fileName: `Other ${i}.srm`, content: content(i) }])
  const reply = await owner.send('POST', '/api/saves', { rom_id: owner.rom }, [{ name: 'saveFile', fileName: 'Last.srm', content: content(9).repeat(3) }])
  t.equal(reply.statusCode, 507)
})

t.test('the task recomputes missing and wrong hashes and changes nothing else of a save', async (t) => {
  const owner = await newUser()
  const [kept, wrong, missing, lost] = await Promise.all(['kept', 'wrong', 'missing', 'lost'].map((name) =>
    owner.save({ rom_id: owner.rom }, `Hash ${name}.srm`, `content ${name}`)))
  await sql("update assets set content_hash = 'wrong' where id = $1", [wrong?.id])
  await sql('update assets set content_hash = null where id = any($1)', [[missing?.id, lost?.id]])
  const { rows: [row] } = await app.pg.query<{ disk_path: string }>('select disk_path from assets where id = $1', [lost?.id])
  await forget(row?.disk_path ?? '')
  const ids = [kept, wrong, missing, lost].map((save) => save?.id)
  const read = async () => (await app.pg.query<{ content_hash: string | null }>(
    'select content_hash, updated_at, sha1 from assets where id = any($1) order by id', [ids])).rows
  const hashes = async () => new Map((await app.pg.query<{ id: number, content_hash: string | null }>(
    'select id, content_hash from assets where id = any($1)', [ids])).rows.map((save) => [save.id, save.content_hash]))
  const before = await read()
  const start = async (payload: object) => {
    const { task_id: id } = (await app.inject({
      method: 'POST', url: '/api/tasks/run/recompute_save_content_hashes', headers: test.admin, payload
    })).json<{ task_id: string }>()
    return await until(async () => {
      const answer = await app.inject({ url: `/api/tasks/${id}`, headers: test.admin })
      const task = answer.json<{ status: string, meta: { saves: object } }>()
      return task.status === 'finished' && task.meta.saves
    }, 'it ends')
  }
  t.match(await start({ missing_only: true }), { saves_scanned: 2, saves_updated: 1, saves_missing_fs: 1, errors: 0 })
  t.equal((await hashes()).get(wrong?.id ?? 0), 'wrong')
  t.match(await start({}), { saves_updated: 1, errors: 0 })
  t.equal((await hashes()).get(wrong?.id ?? 0), md5Of('content wrong'))
  t.equal((await hashes()).get(missing?.id ?? 0), md5Of('content missing'))
  t.equal((await hashes()).get(lost?.id ?? 0), null)
  type Rows = Awaited<ReturnType<typeof read>>
  const withoutHash = (saves: Rows) => saves.map((save) => ({ ...save, content_hash: null }))
  t.same(withoutHash(await read()), withoutHash(before))
})
