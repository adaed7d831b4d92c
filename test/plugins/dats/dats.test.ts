import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { openDat } from '../../../plugins/dats/parse/read-dat.ts'
import { createUsedDataDir, runSvc } from '../../e2e/server.ts'
import { until } from '../../until.ts'
import { makeZip } from '../hashing/fixtures.ts'
import { buildScanTest } from '../scans/support.ts'

const test = await buildScanTest(t, { providers: ['alpha'] })
const { app, admin, put, scan, rom, sql, finished, libraryDir, dataDir } = test

const digest = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex')

interface Content { name: string, bytes: Buffer, status?: string, only?: 'sha1' | 'md5' | 'crc' }

function toRom ({ name, bytes, status, only }: Content): string {
  const hashes = { crc: crc32(bytes).toString(16).padStart(8, '0'), md5: digest('md5', bytes), sha1: digest('sha1', bytes) }
  const given = Object.entries(hashes).filter(([key]) => only === undefined || key === only).map(([key, hash]) => `${key}="${hash}"`)
  return `<rom name="${name}" size="${bytes.length}" ${given.join(' ')}${status === undefined ? '' : ` status="${status}"`}/>`
}

const toGame = (name: string, files: readonly Content[], more = '') => `<game name="${name}"${more}>${files.map(toRom).join('')}</game>\n`
const toDat = (name: string, games: readonly string[], version = '') =>
  `<?xml version="1.0"?>\n<datafile><header><name>${name}</name><version>${version}</version></header>\n${games.join('')}</datafile>`

/** Returns made-up content that is unique to a text. */
const content = (text: string) => Buffer.from(`${text} `.repeat(50))
const file = (name: string, text = name, more: Partial<Content> = {}): Content =>
  ({ name, bytes: content(text), ...more })

interface Meta {
  loaded_count: number
  loaded: { id: number, name: string, games: number }[]
  older: { problem: string }[]
  problems: { file: string, problem: string }[]
  renamed: { fs_name: string, new_name: string }[]
  refused: { fs_name: string, new_name: string, refusal: string }[]
}

const get = async (url: string, headers = admin) => (await app.inject({ url, headers })).json<Record<string, never>>()

/** Uploads files as a form. */
async function upload (files: Record<string, string | Uint8Array>, query = '') {
  const form = new FormData()
  for (const [name, bytes] of Object.entries(files)) form.append('files', new Blob([bytes]), name)
  const request = new Request('http://localhost', { method: 'POST', body: form })
  return await app.inject({
    method: 'POST',
    url: `/api/dats${query}`,
    headers: { ...admin, 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer())
  })
}

async function load (files: Record<string, string | Uint8Array>, query = '') {
  const answer = await upload(files, query)
  if (answer.statusCode !== 202) throw new Error(answer.body)
  const { status, meta } = await finished(answer.json<{ task_id: string }>().task_id)
  return { status, meta: meta as unknown as Meta }
}

/** Loads one DAT and returns its id. */
async function loadDat (name: string, games: readonly string[], query = ''): Promise<number> {
  const { meta } = await load({ 'list.dat': toDat(name, games) }, query)
  const [dat] = meta.loaded
  if (dat === undefined) throw new Error(JSON.stringify(meta))
  return dat.id
}

async function runTask (name: string, payload: object = {}): Promise<{ status: string, meta: Meta }> {
  const answer = await app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers: admin, payload })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const { status, meta } = await finished(answer.json<{ task_id: string }>().task_id)
  return { status, meta: meta as unknown as Meta }
}

const remove = (id: number) => app.inject({ method: 'DELETE', url: `/api/dats/${id}`, headers: admin })

/** Adds files to a platform's folder, and scans it. */
async function add (folder: string, files: Record<string, Uint8Array>): Promise<void> {
  await put(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`roms/${folder}/${name}`, bytes])))
  await scan({ platform_fs_slugs: [folder] })
}

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
  await runTask('update_dats')
  const id = await loadDat('Sega - Game Gear (2021-01-01)', [toGame('New', [file('New.gg')])])
  t.match(await get(`/api/dats/${id}`), { name: 'Sega - Game Gear (2021-01-01)', folder_path: null })
  t.equal((await remove(id)).statusCode, 204)
  await rm(join(dir, 'broken.dat'), { force: true })
  t.match((await runTask('update_dats')).meta.loaded, [{ name: 'Sega - Game Gear (2020-01-01)' }])
  await rm(dir, { recursive: true })
  await runTask('update_dats')
  t.equal((await sql("select from dats where folder_path = 'old.dat'")).length, 1, 'a missing folder deletes nothing')
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

t.test('svc dat loads, lists, renames and deletes', async (t) => {
  await add('wonderswan', { 'wrong.ws': content('swan') })
  const folder = t.testdir({
    'swan.dat': toDat('Bandai - WonderSwan', [toGame('Swan', [file('Swan.ws', 'swan')]), toGame('Gone', [file('Gone.ws')])]),
    'broken.dat': '<datafile>\n<game>'
  })
  const env = { SVC_DATA_DIR: dataDir, SVC_LIBRARY_DIR: libraryDir, SVC_DATABASE_URL: test.databaseUrl, SVC_AUTH_SECRET_KEY: 'a key for tests only' }
  createUsedDataDir(dataDir)
  const svc = async (...args: string[]) => await runSvc(t, ['dat', ...args], env).ended
  t.match(await svc('add', join(folder, 'swan.dat'), join(folder, 'broken.dat')), {
    code: 1, output: /Loaded Bandai - WonderSwan: 2 games\n[^]*Refused broken\.dat: line 2: not well-formed XML/
  })
  t.match(await svc('add', '--platform', 'wonderswan', '--platform', 'lynx', join(folder, 'swan.dat')), { code: 0, output: /Loaded Bandai/ })
  t.match(await svc('list'), { output: /Bandai - WonderSwan \(wonderswan, lynx\)/ })
  t.match(await svc('add', '--platform', 'wonderswan', join(folder, 'swan.dat')), { code: 0 })
  t.match(await svc('add', join(folder, 'absent.dat')), { code: 1, output: /^svc: .*absent\.dat cannot be read: ENOENT.*Give the path of a DAT\.$/m })
  const [{ id = 0 } = {}] = await sql<{ id: number }>("select id from dats where key = 'bandai - wonderswan'")
  t.match(await svc('list'), { code: 0, output: new RegExp(`^${id}  Bandai - WonderSwan \\(wonderswan\\): 1 have, 1 missing, 0 extra$`, 'm') })
  t.match(await svc('rename', String(id), '--dry-run'), { code: 0, output: 'wrong.ws → Swan.ws\n' })
  t.match(await svc('rename', String(id)), { code: 0, output: 'wrong.ws → Swan.ws\n1 renamed, 0 refused.\n' })
  t.match(await svc('fixdat', String(id)), { code: 0, output: /<game name="Gone">/ })
  t.match(await svc('remove', String(id), '999999'), { code: 1, output: new RegExp(`Deleted DAT ${id}\\.`) })
})
