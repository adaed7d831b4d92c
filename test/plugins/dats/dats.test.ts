import { mkdir, readFile, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import { datsConfig } from '../../../plugins/dats/config.ts'
import { deleteOldUploads } from '../../../plugins/dats/load/staged-uploads.ts'
import { openDat } from '../../../plugins/dats/parse/read-dat.ts'
import { datFolder } from '../../../plugins/dats/service.ts'
import { until } from '../../until.ts'
import { makeZip } from '../hashing/fixtures.ts'
import { content, digest, file, startDats, toDat, toGame, toRom, type Meta } from './dats-support.ts'

const {
  test, app, admin, scan, rom, sql, finished, libraryDir, dataDir, upload, load, loadDat, add
} = await startDats(t)

const get = async (url: string, headers = admin) => (await app.inject({ url, headers })).json<Record<string, never>>()

async function runTask (name: string, payload: object = {}): Promise<{ status: string, meta: Meta }> {
  const answer = await app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers: admin, payload })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const { status, meta } = await finished(answer.json<{ task_id: string }>().task_id)
  return { status, meta: meta as unknown as Meta }
}

const remove = (id: number) => app.inject({ method: 'DELETE', url: `/api/dats/${id}`, headers: admin })

/** Returns the status of each ROM of a platform, by file name. */
async function statuses (folder: string): Promise<Record<string, string | null>> {
  const rows = await sql<{ fs_name: string, status: string | null }>(`select r.fs_name, d.status from roms r
    join platforms p on p.id = r.platform_id left join rom_dumps d on d.rom_id = r.id where p.fs_slug = $1 order by r.fs_name collate "C"`, [folder])
  return Object.fromEntries(rows.map(({ fs_name: name, status }) => [name, status]))
}

interface Page { items: { name?: string, fs_name?: string }[] }

const names = async (url: string) => (await get(url) as unknown as Page).items
  .map(({ name, fs_name: fsName }) => fsName ?? name)

t.test('each ROM of a platform is verified, misnamed, bad or unknown', async (t) => {
  await add('snes', {
    'Good (USA).sfc': content('Good'),
    'wrong name.sfc': content('Other'),
    'Weak.sfc': content('Weak'),
    'Changed (USA).sfc': content('something else'),
    'Homebrew.sfc': content('Homebrew'),
    'Zipped (Japan).zip': await makeZip([{ name: 'inner.sfc', bytes: content('Zipped') }]),
    'Only CRC (USA).sfc': content('Only CRC'),
    'Only MD5 (USA).sfc': content('Only MD5')
  })
  t.same(new Set(Object.values(await statuses('snes'))), new Set([null]), 'without a DAT there is no status')
  const id = await loadDat('Nintendo - Super Nintendo Entertainment System (20240101-101010)', [
    toGame('Good (USA)', [file('Good (USA).sfc', 'Good', { status: 'verified' })]),
    toGame('Other (Europe)', [file('Other (Europe).sfc', 'Other')]),
    toGame('Weak', [file('Weak.sfc', 'Weak', { status: 'baddump' })]),
    toGame('Changed (USA)', [file('Changed (USA).sfc', 'Changed')]),
    toGame('Zipped (Japan)', [file('Zipped (Japan).sfc', 'Zipped')]),
    toGame('Only CRC (USA)', [file('Only CRC (USA).sfc', 'Only CRC', { only: 'crc' })]),
    toGame('Only MD5 (USA)', [file('Only MD5 (USA).sfc', 'Only MD5', { only: 'md5' })]),
    toGame('Absent (USA)', [file('Absent (USA).sfc', 'Absent')]),
    '<game name="Never dumped"><rom name="x.bin" status="nodump"/></game>'
  ])
  t.same(await statuses('snes'), {
    'Changed (USA).sfc': 'bad',
    'Good (USA).sfc': 'verified',
    'Homebrew.sfc': 'unknown',
    'Only CRC (USA).sfc': 'verified',
    'Only MD5 (USA).sfc': 'verified',
    'Weak.sfc': 'bad',
    'Zipped (Japan).zip': 'verified',
    'wrong name.sfc': 'misnamed'
  })
  t.match(await get(`/api/dats/${id}`), {
    platform_slugs: ['sfam', 'snes'], game_count: 8, have_count: 6, miss_count: 2, extra_count: 2, folder_path: null
  })
  t.same(await names(`/api/dats/${id}/games?is_present=false`), ['Changed (USA)', 'Absent (USA)'])
  t.same(await names(`/api/dats/${id}/games?is_present=true&limit=1&offset=1`), ['Other (Europe)'])
  t.same(await names(`/api/dats/${id}/extras`), ['Changed (USA).sfc', 'Homebrew.sfc'])

  t.same(new Set(await names('/api/roms?verified=true&order_by=fs_name')), new Set(['Good (USA).sfc', 'Only CRC (USA).sfc',
    'Only MD5 (USA).sfc', 'Zipped (Japan).zip', 'wrong name.sfc']), 'a good dump under another name is verified for the boolean filter')
  t.same(await names('/api/roms?dump_statuses=bad&dump_statuses=unknown&order_by=fs_name'), ['Changed (USA).sfc', 'Homebrew.sfc', 'Weak.sfc'])
  const { id: romId } = await rom('snes', 'Weak.sfc')
  t.match(await get(`/api/roms/${romId}`), { dump_status: 'bad' })
  t.equal((await remove(id)).statusCode, 204)
  await until(async () => (await statuses('snes'))['Weak.sfc'] === null, 'the comparison without the DAT')
  await until(async () => (await get(`/api/roms/${romId}`)).dump_status === null, 'a response without the cached status')
})

t.test('a ROM of several files needs all of them; files of the parent are not needed', async (t) => {
  const [one, two, shared] = [content('disc one'), content('disc two'), content('shared')]
  await add('psx', {
    'Whole/a.bin': one, 'Whole/b.bin': two, 'Half/a.bin': one, 'Half/c.bin': content('c')
  })
  await add('arcade', { 'clone.zip': await makeZip([{ name: 'c1', bytes: content('c1') }]) })
  await loadDat('Sony - PlayStation', [toGame('Whole', [{ name: 'Whole (Track 1).bin', bytes: one }, { name: 'Whole (Track 2).bin', bytes: two }])])
  await loadDat('MAME', [
    toGame('parent', [{ name: 's1', bytes: shared }]),
    `<game name="clone" cloneof="parent">${toRom(file('c1'))}${toRom({ name: 's1', bytes: shared }).replace('/>', ' merge="s1"/>')}</game>`
  ])
  t.same(await statuses('psx'), { Half: 'bad', Whole: 'verified' })
  t.same(await statuses('arcade'), { 'clone.zip': 'verified' })
})

t.test('a cartridge with a header equals the dump without it', async (t) => {
  const body = Buffer.alloc(16_384, 7)
  const header = Buffer.concat([Buffer.from('NES\x1a'), Buffer.alloc(12)])
  await add('nes', { 'Headered (USA).nes': Buffer.concat([header, body]) })
  await loadDat('Nintendo - Nintendo Entertainment System (Headerless)', [toGame('Headered (USA)', [{ name: 'Headered (USA).prg', bytes: body }])])
  t.same(await statuses('nes'), { 'Headered (USA).nes': 'verified' }, 'the extension of another form of the dump stays')
})

t.test('scans, edits and deletions keep the status right', async (t) => {
  const id = await loadDat('Nintendo - Game Boy', [toGame('Kept', [file('Kept.gb')]), toGame('Later', [file('Later.gb')])])
  await add('gb', { 'Kept.gb': content('Kept.gb'), 'Later.gb': content('not yet') })
  t.same(await statuses('gb'), { 'Kept.gb': 'verified', 'Later.gb': 'bad' }, 'a scan compares new ROMs')
  await add('gb', { 'Later.gb': content('Later.gb') })
  t.same(await statuses('gb'), { 'Kept.gb': 'verified', 'Later.gb': 'verified' }, 'and changed ones')
  const { id: romId } = await rom('gb', 'Kept.gb')
  const edit = (name: string) => app.inject({ method: 'PUT', url: `/api/roms/${romId}`, headers: admin, payload: { fs_name: name } })
  t.match((await edit('Renamed.gb')).json(), { fs_name: 'Renamed.gb', dump_status: 'misnamed' }, 'the answer of the edit knows it')
  t.match((await edit('Kept.gb')).json(), { dump_status: 'verified' })
  await app.inject({ method: 'POST', url: '/api/roms/delete', headers: admin, payload: { roms: [romId], delete_from_fs: [romId] } })
  t.match(await get(`/api/dats/${id}`), { have_count: 1, miss_count: 1 })
})

t.test('a newer version replaces a DAT and keeps its chosen platform', async (t) => {
  const [first] = (await load({ 'a.dat': toDat('My list (2024-01-01)', [toGame('A', [file('a.bin')])]) })).meta.loaded
  t.match(await get(`/api/dats/${first?.id}`), { platform_slugs: [], version: '', platform_ids: [] })
  const choice = await app.inject({ method: 'PATCH', url: `/api/dats/${first?.id}`, headers: admin, payload: { platform_slugs: ['lynx'] } })
  t.match(choice.json(), { platform_slugs: ['lynx'], is_platform_chosen: true })
  const newer = await load({ 'b.dat': toDat('My list (2024-02-01)', [toGame('A', [file('a.bin')]), toGame('B', [file('b.bin')])]) })
  t.match(newer.meta.loaded, [{ id: first?.id, games: 2 }])
  t.match(await get(`/api/dats/${first?.id}`), { platform_slugs: ['lynx'], name: 'My list (2024-02-01)', game_count: 2 })
  const older = await load({ 'c.dat': toDat('My list (2024-01-15)', [toGame('C', [file('c.bin')])]) })
  t.match(older, { status: 'finished', meta: { loaded_count: 0, older: [{ problem: /older than the stored version 2024-02-01/ }] } })
})

t.test('the platform of an upload can be chosen, and lists are narrowed to a platform', async (t) => {
  await add('vectrex', { 'Mine.vec': content('Mine.vec') })
  const id = await loadDat('Anything', [toGame('Mine', [file('Mine.vec')])], '?platform_slugs=vectrex')
  t.same(await statuses('vectrex'), { 'Mine.vec': 'verified' })
  const [{ id: platform = 0 } = {}] = await sql<{ id: number }>("select id from platforms where fs_slug = 'vectrex'")
  t.match(await get(`/api/dats?platform_id=${platform}`), [{ id, platform_ids: [platform], have_count: 1 }])
  t.same(await get('/api/dats?platform_id=999999'), [])
  const back = await app.inject({ method: 'PATCH', url: `/api/dats/${id}`, headers: admin, payload: { platform_slugs: null } })
  t.match(back.json(), { platform_slugs: [], is_platform_chosen: false })
  await until(async () => (await statuses('vectrex'))['Mine.vec'] === null, 'the comparison without the platform')
})

t.test('a broken DAT is refused with its line, and the stored version stays', async (t) => {
  const good = toDat('Sega - Dreamcast', [toGame('A', [file('a.bin')])])
  const { meta: { loaded: [dat] } } = await load({ 'good.dat': good })
  const many = Array.from({ length: 30_000 }, (_none, index) => `<game name="g${index}"><rom name="r${index}" size="1" crc="${index.toString(16)}"/></game>\n`)
  const broken = await load({ 'broken.dat': toDat('Sega - Dreamcast', [...many, '<game name="x"><rom name="y"></game>']) })
  t.match(broken, { status: 'failed', meta: { problems: [{ file: 'broken.dat', problem: /^line 30003: not well-formed XML/ }] } })
  t.match(await get(`/api/dats/${dat?.id}`), { game_count: 1 }, 'nothing of it is stored')
  const poor = await load({ 'poor.dat': '<datafile><game name="no header"><rom name="a"/><rom name="b" crc="1"/></game><game name="no hash"><rom name="c"/></game><game name="twice"><rom name="b" crc="1"/></game></datafile>' })
  t.match(poor.meta.loaded, [{ name: 'poor', games: 2 }], 'sizes, hashes and a header may be missing')
  t.equal((await upload({ 'notes.txt': 'x' })).statusCode, 400)
  t.equal((await upload({})).statusCode, 422)
  await until(async () => (await readdir(join(dataDir, 'dat-uploads'))).length === 0, 'the end of all uploads')
})

t.test('a pack of DATs is loaded, and each broken one is named', async (t) => {
  const pack = await makeZip([
    { name: 'No-Intro/Atari - Lynx (20240101).dat', bytes: Buffer.from(toDat('Atari - Lynx (20240101)', [toGame('L', [file('l.lnx')])])) },
    { name: 'No-Intro/broken.dat', bytes: Buffer.from('<datafile><game') },
    { name: 'readme.txt', bytes: Buffer.from('hello') },
    { name: 'cmp.dat', bytes: Buffer.from('clrmamepro (\n name "Bandai - WonderSwan"\n)\ngame (\n name W\n rom ( name w.ws size 3 crc 01020304 )\n)\n') }
  ])
  const { status, meta } = await load({ 'daily.zip': pack })
  t.equal(status, 'finished')
  t.same(meta.loaded.map(({ name }) => name).sort(), ['Atari - Lynx (20240101)', 'Bandai - WonderSwan'])
  t.match(meta.problems, [{ file: 'daily.zip/No-Intro/broken.dat', problem: /^line 1/ }])
  t.match((await load({ 'no.zip': 'PK no zip' })), { status: 'failed', meta: { problems: [{ file: 'no.zip' }] } })
})

t.test('a scan follows the folder of DATs', async (t) => {
  const dir = join(dataDir, 'dats')
  await mkdir(join(dir, 'more'), { recursive: true })
  const path = join(dir, 'more', 'gba.dat')
  await writeFile(path, toDat('Nintendo - Game Boy Advance', [toGame('Metroid', [file('Metroid.gba')])]))
  await writeFile(join(dir, 'broken.dat'), 'nothing')
  await add('gba', { 'Metroid.gba': content('Metroid.gba'), 'Kirby.gba': content('Kirby.gba') })
  t.same(await statuses('gba'), { 'Kirby.gba': 'unknown', 'Metroid.gba': 'verified' })
  t.match(await sql('select path, problem from dat_folder_files order by path'), [{ path: 'broken.dat', problem: /neither XML/ }, { path: 'more/gba.dat', problem: null }])
  const [dat] = await sql<{ id: number }>("select id from dats where folder_path = 'more/gba.dat'")
  t.equal((await remove(dat?.id ?? 0)).statusCode, 409, 'its file would bring it back')
  await writeFile(path, toDat('Nintendo - Game Boy Advance', [toGame('Metroid', [file('Metroid.gba')]), toGame('Kirby', [file('Kirby.gba')])]))
  await utimes(path, 1, 1)
  t.match((await runTask('update_dats')).meta, { loaded: [{ id: dat?.id, games: 2 }], problems: [] }, 'a file that did not change is not read again')
  t.same(await statuses('gba'), { 'Kirby.gba': 'verified', 'Metroid.gba': 'verified' })
  await rm(path)
  await scan({ platform_fs_slugs: ['gba'] })
  t.same(await statuses('gba'), { 'Kirby.gba': null, 'Metroid.gba': null })
})

t.test('a broken archive in the folder of DATs is a problem, and the rest is loaded', async (t) => {
  const dir = join(dataDir, 'dats')
  t.teardown(() => rm(dir, { recursive: true }))
  await mkdir(dir, { recursive: true })
  const games = Array.from({ length: 500 }, (_none, index) => toGame(`${index}`, [file(`${index}.tg`)]))
  const whole = await makeZip([{ name: 'a.dat', bytes: Buffer.from(toDat('Tiger - Game.com', games)) }])
  const [data, checksum] = [Buffer.from(whole).fill(0xff, 1_000, 1_100), Buffer.from(whole)]
  checksum.writeUInt32LE(1, checksum.lastIndexOf('PK\x01\x02') + 16)
  const broken = { 'cut.zip': whole.subarray(0, -40), 'data.zip': data, 'sum.zip': checksum }
  for (const [name, bytes] of Object.entries(broken)) await writeFile(join(dir, name), bytes)
  await writeFile(join(dir, 'whole.dat'), toDat('Watara - Supervision', [toGame('W', [file('w.sv')])]))
  const { status, meta } = await runTask('update_dats')
  t.match([status, meta.loaded], ['finished', [{ name: 'Watara - Supervision' }]])
  t.match(meta.problems.toSorted((a, b) => a.file < b.file ? -1 : 1), [
    { file: 'cut.zip', problem: /truncated/ },
    { file: 'data.zip/a.dat', problem: /./ },
    { file: 'sum.zip/a.dat', problem: /wrong checksum/ }
  ])
})

t.test('an empty folder of DATs may be a disk that is not mounted, so its DATs stay', async (t) => {
  const dir = join(dataDir, 'dats')
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir)
  await writeFile(join(dir, 'swan.dat'), toDat('Bandai - WonderSwan Color', [toGame('Swan', [file('Swan.wsc')])]))
  await runTask('update_dats')
  const [dat] = await sql<{ id: number }>("select id from dats where folder_path = 'swan.dat'")
  await rm(join(dir, 'swan.dat'))
  await runTask('update_dats')
  t.equal((await sql('select 1 from dats where id = $1', [dat?.id])).length, 1)
  t.equal((await remove(dat?.id ?? 0)).statusCode, 204, 'whose file is gone')
})

t.test('a file of the folder comes back when the newer version is deleted', async (t) => {
  const dir = join(dataDir, 'dats')
  await writeFile(join(dir, 'old.dat'), toDat('Sega - Game Gear (2020-01-01)', [toGame('Old', [file('Old.gg')])]))
  await writeFile(join(dir, 'new.dat'), toDat('Sega - Game Gear (2021-01-01)', [toGame('New', [file('New.gg')])]))
  await runTask('update_dats')
  t.match(await sql("select name, folder_path from dats where key = 'sega - game gear'"), [{ name: 'Sega - Game Gear (2021-01-01)', folder_path: 'new.dat' }])
  await rm(join(dir, 'new.dat'))
  t.match((await runTask('update_dats')).meta.loaded, [{ name: 'Sega - Game Gear (2020-01-01)' }])
  await rm(dir, { recursive: true })
  await runTask('update_dats')
  t.equal((await sql("select from dats where folder_path = 'old.dat'")).length, 1, 'a missing folder deletes nothing')
})

t.test('of concurrent deletions of one DAT only the first succeeds', async (t) => {
  const id = await loadDat('Sega - Pico', [toGame('Have', [file('Have.bin')])])
  const statuses = (await Promise.all(Array.from({ length: 6 }, () => remove(id)))).map(({ statusCode }) => statusCode)
  t.same(statuses.sort(), [204, 404, 404, 404, 404, 404])
})

t.test('a fixdat holds the missing games as they stand in the DAT', async (t) => {
  await add('saturn', { 'Have.bin': content('Have.bin') })
  const tricky = toGame('A &amp; "B"'.replaceAll('"', '&quot;'), [file('A &amp; B.bin', 'miss')], ' cloneof="Have"')
  const id = await loadDat('Sega - Saturn', [toGame('Have', [file('Have.bin')]), tricky])
  const answer = await app.inject({ url: `/api/dats/${id}/fixdat`, headers: admin })
  t.match(answer.headers, { 'content-type': 'application/xml; charset=utf-8', 'content-disposition': /fix_Sega - Saturn\.dat/ })
  async function * body () { yield answer.rawPayload }
  const { header, games } = await openDat(body())
  t.match(header, { name: 'fix_Sega - Saturn' })
  const all = []
  for await (const game of games) all.push(game)
  t.match(all, [{ name: 'A & "B"', clone_of: 'Have', files: [{ name: 'A & B.bin', sha1: digest('sha1', content('miss')), size: content('miss').length }] }])
  const { meta } = await load({ 'fix.dat': answer.rawPayload })
  t.match(meta.loaded, [{ games: 1 }], 'the server reads its own fixdat')
})

t.test('have, missing and extra games of a caller know nothing of hidden ROMs', async (t) => {
  await add('jaguar', { 'Seen.j64': content('Seen.j64'), 'Hidden.j64': content('Hidden.j64'), 'Hidden extra.j64': content('x') })
  const id = await loadDat('Atari - Jaguar', [toGame('Seen', [file('Seen.j64')]), toGame('Hidden', [file('Hidden.j64')])])
  const kid = await test.createUser('kid')
  const [{ id: kidId = 0 } = {}] = await sql<{ id: number }>("select id from users where username = 'kid'")
  t.match(await get(`/api/dats/${id}`, kid), { have_count: 2, miss_count: 0, extra_count: 1 })
  await sql("insert into hidden_entities (entity, entity_id, user_id) select 'roms', id, $1 from roms where fs_name like 'Hidden%'", [kidId])
  t.match(await get(`/api/dats/${id}`, kid), { have_count: 1, miss_count: 1, extra_count: 0 })
  const seen = async (url: string) => await get(url, kid) as unknown as { items: object[], total: number }
  t.match(await seen(`/api/dats/${id}/games`), { items: [{ name: 'Seen', rom_ids: [Number] }, { name: 'Hidden', rom_ids: [] }], total: 2 })
  t.match(await seen(`/api/dats/${id}/games?is_present=false`), { items: [{ name: 'Hidden' }], total: 1 })
  t.match(await seen(`/api/dats/${id}/extras`), { items: [], total: 0 })
  t.match((await app.inject({ url: `/api/dats/${id}/fixdat`, headers: kid })).body, /name="Hidden.j64"/)
  t.match(await get(`/api/dats/${id}`), { have_count: 2 }, 'an administrator still sees all')
  await sql("insert into hidden_entities (entity, entity_id, user_id) select 'platforms', id, $1 from platforms where fs_slug = 'jaguar'", [kidId])
  t.equal((await app.inject({ url: `/api/dats/${id}`, headers: kid })).statusCode, 404, 'a DAT of a hidden platform')
  t.notOk((await get('/api/dats', kid) as unknown as { id: number }[]).some((dat) => dat.id === id))
  for (const [method, url] of [['PATCH', `/api/dats/${id}`], ['DELETE', `/api/dats/${id}`], ['POST', '/api/dats']] as const) {
    const payload = method === 'PATCH' ? { platform_slugs: null } : {}
    t.equal((await app.inject({ method, url, headers: kid, payload })).statusCode, 403, `${method} ${url}`)
  }
})

t.test('ROMs get their names by a DAT, after a preview', async (t) => {
  await add('n64', {
    'one.z64': content('one'),
    'taken.z64': content('two'),
    'Two (USA).z64': content('other'),
    'hostile.z64': content('hostile'),
    'reserved.z64': content('reserved'),
    'pack.zip': await makeZip([{ name: 'x.z64', bytes: content('pack') }]),
    'Folder old/a.z64': content('fa'),
    'Folder old/b.z64': content('fb')
  })
  const id = await loadDat('Nintendo - Nintendo 64', [
    toGame('One (USA)', [file('One (USA).z64', 'one')]),
    toGame('Two (USA)', [file('Two (USA).z64', 'two')]),
    toGame('../../evil', [file('../../evil.z64', 'hostile')]),
    toGame('CON', [file('CON.z64', 'reserved')]),
    toGame('Pack (Japan)', [file('Pack (Japan).z64', 'pack')]),
    toGame('Folder (USA)', [file('a.z64', 'fa'), file('b.z64', 'fb')])
  ])
  const { id: romId } = await rom('n64', 'one.z64')
  await sql("insert into rom_users (rom_id, user_id, rating) select $1, id, 7 from users where username = 'admin'", [romId])
  t.match(await statuses('n64'), { 'hostile.z64': 'verified', 'reserved.z64': 'verified', 'one.z64': 'misnamed' }, 'a name that no file can have is not expected')
  const preview = await app.inject({ method: 'POST', url: `/api/dats/${id}/renames/preview`, headers: admin })
  const planned = preview.json<{ items: { fs_name: string, refusal: string | null }[], total: number }>()
  const plan = [
    { fs_name: 'Folder old', new_name: 'Folder (USA)', refusal: null },
    { fs_name: 'one.z64', new_name: 'One (USA).z64', refusal: null },
    { fs_name: 'pack.zip', new_name: 'Pack (Japan).zip', refusal: null },
    { fs_name: 'taken.z64', new_name: 'Two (USA).z64', refusal: /another ROM has or gets the name/ }
  ]
  t.match(planned.items.sort((a, b) => a.fs_name < b.fs_name ? -1 : 1), plan)
  t.equal(planned.total, 4)
  const before = await readdir(join(libraryDir, 'roms', 'n64'))
  await runTask('rename_by_dat', { dat_id: id, dry_run: true })
  t.same(await readdir(join(libraryDir, 'roms', 'n64')), before, 'a dry run changes nothing')
  const { status, meta } = await runTask('rename_by_dat', { dat_id: id })
  t.equal(status, 'finished')
  t.same(meta.renamed.map((one) => one.new_name).sort(), ['Folder (USA)', 'One (USA).z64', 'Pack (Japan).zip'])
  t.match(meta.refused, [{ fs_name: 'taken.z64', refusal: /another ROM/ }])
  t.same((await readdir(join(libraryDir, 'roms', 'n64'))).sort(), ['Folder (USA)', 'One (USA).z64', 'Pack (Japan).zip', 'Two (USA).z64',
    'hostile.z64', 'reserved.z64', 'taken.z64'])
  t.match(await get(`/api/roms/${romId}`), { fs_name: 'One (USA).z64', dump_status: 'verified', rom_user: { rating: 7 } }, 'the ROM is the same')
  const refusal = await app.inject({ method: 'POST', url: '/api/tasks/run/rename_by_dat', headers: admin, payload: { dat_id: 999_999 } })
  t.equal(refusal.statusCode, 404)
})

t.test('an upload and a file of the folder never replace one another', async (t) => {
  const dir = join(dataDir, 'dats')
  await mkdir(dir, { recursive: true })
  await writeFile(join(dir, 'pce.dat'), toDat('NEC - PC Engine SuperGrafx (2020-01-01)', [toGame('Old', [file('Old.pce')])]))
  await runTask('update_dats')
  const upload = await load({ 'new.dat': toDat('NEC - PC Engine SuperGrafx (2021-01-01)', [toGame('New', [file('New.pce')])]) })
  t.match(upload, { status: 'failed', meta: { loaded: [], problems: [{ file: 'new.dat', problem: /comes from 'pce\.dat' in the folder of DATs.*put/ }] } })
  const [stored] = await sql<{ id: number }>("select id, name, folder_path from dats where key = 'nec - pc engine supergrafx'")
  t.match(stored, { name: 'NEC - PC Engine SuperGrafx (2020-01-01)', folder_path: 'pce.dat' })

  const id = await loadDat('Sega - SG-1000 (2020-01-01)', [toGame('A', [file('A.sg')])])
  await writeFile(join(dir, 'sg.dat'), toDat('Sega - SG-1000 (2021-01-01)', [toGame('B', [file('B.sg')])]))
  t.match(await runTask('update_dats'), {
    status: 'finished', meta: { loaded: [], problems: [{ file: 'sg.dat', problem: new RegExp(`uploaded as DAT ${id}.*svc dat remove ${id}`) }] }
  })
  t.match(await get(`/api/dats/${id}`), { name: 'Sega - SG-1000 (2020-01-01)', folder_path: null })
  await remove(id)
  t.match((await runTask('update_dats')).meta, { loaded: [{ name: 'Sega - SG-1000 (2021-01-01)' }], problems: [] })
  await rm(dir, { recursive: true })
})

t.test('an unknown dump status is refused with the statuses that exist', async (t) => {
  for (const value of ['good', '']) {
    const answer = await app.inject({ url: `/api/roms?dump_statuses=bad&dump_statuses=${value}`, headers: admin })
    t.match(answer, { statusCode: 422 })
    t.match(answer.json(), { detail: [{ loc: ['query', 'dump_statuses', 1], input: value, msg: /verified, misnamed, bad, unknown/ }] })
  }
})

t.test('an unknown platform is refused with similar ones', async (t) => {
  const id = await loadDat('Some list', [toGame('A', [file('A.bin')])])
  const dat = toDat('Some other list', [toGame('A', [file('A.bin')])])
  const refusals = [await upload({ 'a.dat': dat }, '?platform_slugs=gb&platform_slugs=megadrive'),
    await app.inject({ method: 'PATCH', url: `/api/dats/${id}`, headers: admin, payload: { platform_slugs: ['megadrive'] } })]
  for (const refusal of refusals) t.match(refusal, { statusCode: 400, body: /'megadrive' is not the slug of a platform.*genesis/ })
  const choose = (slug: string) => app.inject({ method: 'PATCH', url: `/api/dats/${id}`, headers: admin, payload: { platform_slugs: [slug] } })
  t.match((await choose('vectrx')).json(), { detail: /'vectrex'/ })
  t.match((await choose('gameboyy')).json(), { detail: /'gb'/ })
  t.match((await choose('zzzzzzzz')).json(), { detail: /GET \/api\/platforms\/supported/ })
  t.match((await choose('vectrex')).json(), { platform_slugs: ['vectrex'] })
  await add('my own platform', { 'Mine.bin': content('Mine') })
  const [{ slug = '' } = {}] = await sql<{ slug: string }>("select slug from platforms where fs_slug = 'my own platform'")
  t.match((await choose(slug)).json(), { platform_slugs: [slug] }, 'a platform of the library that no list knows')
  await remove(id)
})

t.test('a fixdat of a DAT with a long name has a short file name', async (t) => {
  const id = await loadDat(`Long ${'名'.repeat(600)}`, [toGame('A', [file('A.bin')])])
  const { headers } = await app.inject({ url: `/api/dats/${id}/fixdat`, headers: admin })
  const header = String(headers['content-disposition'])
  t.ok(header.length < 1_200, `${header.length} characters`)
  t.match(header, /\.dat"$/)
})

t.test('a DAT that the database refuses stays out, and the others are loaded', async (t) => {
  await sql("alter table dat_games add constraint no_curse check (name <> 'Curse')")
  t.teardown(() => sql('alter table dat_games drop constraint no_curse'))
  const pack = await makeZip([
    { name: '1.dat', bytes: Buffer.from(toDat('Pack 1', [toGame('A', [file('A.bin')]), toGame('Curse', [file('C.bin')])])) },
    { name: '2.dat', bytes: Buffer.from(toDat('Pack 2', [toGame('A', [file('A.bin')])])) }
  ])
  const { status, meta } = await load({ 'pack.zip': pack })
  t.match({ status, meta }, {
    status: 'finished', meta: { loaded: [{ name: 'Pack 2' }], problems: [{ file: 'pack.zip/1.dat', problem: /cannot be stored.*no_curse/ }] }
  })
  t.same(await sql("select from dats where name = 'Pack 1'"), [])
})

t.test('a disc is good by its tracks, whatever its sheet says', async (t) => {
  const tracks = [content('track 1'), content('track 2')] as const
  await add('segacd', {
    'Disc (USA)/Disc (USA) (Track 1).bin': tracks[0],
    'Disc (USA)/Disc (USA) (Track 2).bin': tracks[1],
    'Disc (USA)/Disc (USA).cue': content('a sheet with other names'),
    'Part (USA)/Part (USA) (Track 1).bin': content('part 1'),
    'Part (USA)/Part (USA).cue': content('part sheet')
  })
  await loadDat('Sega - Mega CD & Sega CD'.replace('&', '&amp;'), [
    toGame('Disc (USA)', [file('Disc (USA).cue', 'the sheet'), { name: 'Disc (USA) (Track 1).bin', bytes: tracks[0] }, { name: 'Disc (USA) (Track 2).bin', bytes: tracks[1] }]),
    toGame('Part (USA)', [file('Part (USA).cue', 'part sheet'), file('Part (USA) (Track 1).bin', 'part 1'), file('Part (USA) (Track 2).bin', 'part 2')])
  ], '?platform_slugs=segacd')
  t.same(await statuses('segacd'), { 'Disc (USA)': 'verified', 'Part (USA)': 'bad' })
})

/** Returns the content of each ROM of a platform folder by its name on disk, without the padding of `content`. */
async function contents (folder: string): Promise<Record<string, string>> {
  const dir = join(libraryDir, 'roms', folder)
  const read = async (name: string) => [name, (await readFile(join(dir, name), 'utf8')).split(' ')[0] ?? ''] as const
  return Object.fromEntries(await Promise.all((await readdir(dir)).sort().map(read)))
}

t.test('ROMs that swap names are renamed, in pairs, in cycles of three and in chains', async (t) => {
  const names = { 'a.pce': 'B', 'b.pce': 'A', 'k.pce': 'L', 'l.pce': 'M', 'm.pce': 'K', 'x.pce': 'Y', 'y.pce': 'Z' }
  await add('tg16', Object.fromEntries(Object.entries(names).map(([name, text]) => [name, content(text)])))
  const id = await loadDat('Swaps', Object.values(names).map((text) =>
    toGame(text, [{ name: `${text.toLowerCase()}.pce`, bytes: content(text) }])), '?platform_slugs=tg16')
  const ids = await sql<{ id: number, content: string }>("select r.id, r.fs_name from roms r join platforms p on p.id = r.platform_id where p.fs_slug = 'tg16' order by r.id")
  const preview = (await app.inject({ method: 'POST', url: `/api/dats/${id}/renames/preview`, headers: admin })).json<{ items: { refusal: null }[] }>()
  t.same(preview.items.map(({ refusal }) => refusal), Array(7).fill(null))
  t.match(await runTask('rename_by_dat', { dat_id: id }), { status: 'finished', meta: { renamed_count: 7, refused: [] } })
  t.same(await contents('tg16'), { 'a.pce': 'A', 'b.pce': 'B', 'k.pce': 'K', 'l.pce': 'L', 'm.pce': 'M', 'y.pce': 'Y', 'z.pce': 'Z' })
  t.same(new Set(Object.values(await statuses('tg16'))), new Set(['verified']))
  const after = await sql<{ id: number }>("select r.id from roms r join platforms p on p.id = r.platform_id where p.fs_slug = 'tg16' order by r.id")
  t.same(after.map((one) => one.id), ids.map((one) => one.id), 'every ROM is the same')
})

t.test('a swap of names that a crash interrupted is finished by the next run', async (t) => {
  await add('neo-geo-pocket', { 'a.ngp': content('B'), 'b.ngp': content('A') })
  const id = await loadDat('Crashed swaps', ['A', 'B'].map((text) =>
    toGame(text, [{ name: `${text.toLowerCase()}.ngp`, bytes: content(text) }])), '?platform_slugs=neo-geo-pocket')
  const first = await rom('neo-geo-pocket', 'a.ngp')
  const temporary = `renaming-${first.id} b.ngp`
  await sql('insert into rom_renames (rom_id, platform_id, fs_name) select id, platform_id, $2 from roms where id = $1', [first.id, temporary])
  await rename(join(libraryDir, 'roms', 'neo-geo-pocket', 'a.ngp'), join(libraryDir, 'roms', 'neo-geo-pocket', temporary))
  await scan({ platform_fs_slugs: ['neo-geo-pocket'] })
  t.same(await statuses('neo-geo-pocket'), { 'b.ngp': 'misnamed', [temporary]: 'misnamed' }, 'a scan finds both')
  t.match(await runTask('rename_by_dat', { dat_id: id }), { status: 'finished', meta: { renamed_count: 2, refused: [] } })
  t.same(await contents('neo-geo-pocket'), { 'a.ngp': 'A', 'b.ngp': 'B' })
  t.match(await rom('neo-geo-pocket', 'b.ngp'), { id: first.id })
  t.same(await sql('select from rom_renames'), [])
})

t.test('a chain of renames whose last ROM keeps its name is refused as a whole', async (t) => {
  await add('pokemon-mini', { 'a.min': content('B'), 'b.min': content('C'), 'c.min': content('other') })
  const id = await loadDat('Blocked', ['B', 'C'].map((text) =>
    toGame(text, [{ name: `${text.toLowerCase()}.min`, bytes: content(text) }])), '?platform_slugs=pokemon-mini')
  const preview = await app.inject({ method: 'POST', url: `/api/dats/${id}/renames/preview`, headers: admin })
  const refusal = /another ROM has or gets the name/
  t.match(preview.json(), { items: [{ fs_name: 'a.min', refusal }, { fs_name: 'b.min', refusal }] })
  t.match(await runTask('rename_by_dat', { dat_id: id }), { meta: { renamed_count: 0, refused: [{ fs_name: 'a.min' }, { fs_name: 'b.min' }] } })
  t.same(await contents('pokemon-mini'), { 'a.min': 'B', 'b.min': 'C', 'c.min': 'other' })
})

t.test('rename_by_dat acts as its caller, so it neither renames nor names hidden ROMs', async (t) => {
  await add('lynx', { 'seen.lnx': content('Seen'), 'hidden.lnx': content('Hidden') })
  const id = await loadDat('Callers', ['Seen', 'Hidden'].map((text) => toGame(text, [file(`${text} (USA).lnx`, text)])), '?platform_slugs=lynx')
  const curator = await test.createUser('curator')
  const [{ id: userId = 0 } = {}] = await sql<{ id: number }>("select id from users where username = 'curator'")
  for (const [entity, action] of [['roms', 'read'], ['roms', 'write'], ['tasks', 'write']]) {
    await sql(`insert into permission_overrides (user_id, entity, action, own_only, granted)
      values ($1, $2, $3, false, true)`, [userId, entity, action])
  }
  await sql("insert into hidden_entities (entity, entity_id, user_id) select 'roms', id, $1 from roms where fs_name = 'hidden.lnx'", [userId])
  const run = (datId: number) =>
    app.inject({ method: 'POST', url: '/api/tasks/run/rename_by_dat', headers: curator, payload: { dat_id: datId } })
  const { meta } = await finished((await run(id)).json<{ task_id: string }>().task_id)
  t.match(meta, { total: 1, renamed: [{ fs_name: 'seen.lnx', new_name: 'Seen (USA).lnx' }], refused: [] })
  t.notMatch(JSON.stringify(meta), /hidden/i)
  t.same(Object.keys(await statuses('lynx')), ['Seen (USA).lnx', 'hidden.lnx'])
  await sql("insert into hidden_entities (entity, entity_id, user_id) select 'platforms', id, $1 from platforms where fs_slug = 'lynx'", [userId])
  t.equal((await run(id)).statusCode, 404, 'a DAT of a hidden platform')
})

t.test('the folder of DATs may be written in any way, and old uploads may vanish', async (t) => {
  const dir = t.testdir({ 'slash.dat': toDat('Slash', [toGame('A', [file('A.bin')])]) })
  const of = (dir: string) => {
    const config = { ...test.config, dats: { ...datsConfig.of(test.config), dir } }
    return datFolder(config)
  }
  t.equal(of(`${dir}/`), dir)
  t.equal(of(relative(process.cwd(), dir)), dir)
  await symlink(join(dataDir, 'nowhere'), join(dataDir, 'dat-uploads', 'vanished'))
  await t.resolves(deleteOldUploads(join(dataDir, 'dat-uploads')))
  await rm(join(dataDir, 'dat-uploads', 'vanished'))
})
