import { access, readFile, readdir, rename, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import { until } from '../../until.ts'
import { resetVault } from '../fixtures/vault.ts'
import { type Tags, makeFlac, makeM4a, makeMp3 } from '../music/support.ts'
import { buildScanTest } from '../scans/support.ts'

const PNG = await sharp({ create: { width: 30, height: 40, channels: 3, background: '#ff0000' } }).png().toBuffer()
const PDF = Buffer.from('%PDF-1.7\nsmall\n%%EOF\n')
let manual: Buffer | null = PDF
const server = await startServer(t, (_request, response) => {
  if (manual === null) response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': 'application/pdf' }).end(manual)
})
const { app, admin, createUser, put, scan, rom, sql, libraryDir, dataDir } = await buildScanTest(t, {
  providers: ['vault'], config: {
    scan: { media: ['manual'] },
    plugins: { vault: { base_url: server.url } },
    exclude: { roms: { multi_file: { parts: { names: ['*.draft.pdf'] } } } }
  }
})
const resources = join(dataDir, 'resources')
const zoe = await createUser('zoe')
let count = 0
t.beforeEach(() => {
  resetVault()
  manual = PDF
})

interface File { id: number, file_name: string, full_path: string, category: string, file_size_bytes: number }
interface Detail {
  id: number
  fs_name: string
  path_manual: string | null
  url_manual: string | null
  has_manual: boolean
  has_soundtrack: boolean
  has_nested_single_file: boolean, files: File[]
}

async function addRom (fsName = 'Chrono (Japan).gb') {
  const folder = `platform ${count++}`
  await put({ [`roms/${folder}/${fsName}`]: `tale ${count}` })
  await scan({ platform_fs_slugs: [folder] })
  const { id } = await rom(folder, fsName)
  return { id, folder, path: (...names: string[]) => join(libraryDir, 'roms', folder, ...names) }
}

async function addFolderRom () {
  const rom = await addRom('Chrono.gb')
  const answer = await app.inject({ method: 'POST', url: `/api/roms/${rom.id}/convert-to-folder`, headers: admin })
  t.equal(answer.statusCode, 200, answer.body)
  return rom
}

const get = async (id: number): Promise<Detail> => (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json()
const fileOf = async (id: number, name: string) => (await get(id)).files.find((file) => file.file_name === name)
const exists = (path: string) => access(path).then(() => true, () => false)

interface Upload { name?: string, part?: string, headers?: object, raw?: boolean }
async function upload (id: number, path: string, content: Buffer, { name = 'guide.pdf', part = name, headers = admin, raw = false }: Upload = {}) {
  const head = `--x\r\ncontent-disposition: form-data; name="x-upload-platform"\r\n\r\n1\r\n--x\r\ncontent-disposition: form-data; name="${part}"; ` +
    `filename="${part}"\r\ncontent-type: application/octet-stream\r\n\r\n`
  const form = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--x--\r\n')])
  return await app.inject({
    method: 'POST',
    url: `/api/roms/${id}/${path}`,
    headers: {
      ...headers,
      'x-upload-filename': Buffer.from(name).toString('latin1'),
      'content-type': raw ? 'text/plain' : 'multipart/form-data; boundary=x'
    },
    payload: raw ? content : form
  })
}
const remove = (id: number, path: string) => app.inject({ method: 'DELETE', url: `/api/roms/${id}/${path}`, headers: admin })

const makeTrack = () =>
  makeMp3({ TIT2: 'Harbor Theme', TPE1: 'The Choir', TRCK: '3/9', TYER: '1994' }, { type: 'image/png', content: PNG })

t.test('a picture can be the body of a request over the network', async (t) => {
  const { id } = await addRom('Chrono')
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const headers = { ...admin, 'content-type': 'image/png', 'x-upload-filename': 'title.png' }
  const answer = await fetch(`${url}/api/roms/${id}/screenshots`, { method: 'POST', headers, body: new Uint8Array(PNG) })
  t.ok(answer.ok, await answer.text())
  const stored = await fileOf(id, 'title.png')
  t.same(await readFile(join(libraryDir, stored?.full_path ?? '')), PNG)
})

t.test('a manual gives a single-file ROM a folder, and scans find nothing new', async (t) => {
  const { id, folder, path } = await addRom()
  await app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: admin, payload: { rating: 7 } })
  const answer = await upload(id, 'manuals/files', PDF, { name: 'Führer é.pdf' })
  t.equal(answer.statusCode, 201, answer.body)
  t.equal(answer.body, '')
  t.match(await get(id), { fs_name: 'Chrono (Japan)', has_nested_single_file: true, rom_user: { rating: 7 } })
  t.same(await readdir(path('Chrono (Japan)')), ['Chrono (Japan).gb', 'manual'])
  t.same(await readFile(path('Chrono (Japan)', 'manual', 'Führer é.pdf')), PDF)
  t.match(await fileOf(id, 'Führer é.pdf'), { category: 'manual', file_size_bytes: PDF.length, full_path: `roms/${folder}/Chrono (Japan)/manual/Führer é.pdf` })
  const { meta } = await scan({ platform_fs_slugs: [folder] })
  t.match(meta.scan_stats, { new_roms: 0, updated_roms: 0, new_files: 0 })
  t.equal((await upload(id, 'manuals/files', Buffer.from('%PDF-2'), { name: 'Führer é.pdf' })).statusCode, 201)
  t.match(await fileOf(id, 'Führer é.pdf'), { file_size_bytes: 6 })
  t.equal((await remove(id, `manuals/files/${(await fileOf(id, 'Führer é.pdf'))?.id ?? 0}`)).statusCode, 200)
  t.notOk(await exists(path('Chrono (Japan)', 'manual', 'Führer é.pdf')))
  t.notOk(await fileOf(id, 'Führer é.pdf'))
})

t.test('deleting a file of a ROM needs the grant and moves the file to the trash', async (t) => {
  const { id } = await addRom()
  const kinds = [['manuals/files', 'a.pdf', PDF], ['screenshots', 'a.png', PNG], ['soundtracks', 'a.mp3', makeTrack()]] as const
  for (const [path, name, content] of kinds) t.equal((await upload(id, path, content, { name })).statusCode, 201, name)
  t.equal((await upload(id, 'manuals', PDF)).statusCode, 201)
  await sql(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'roms', 'write', false from permission_groups where is_default on conflict do nothing`)
  const paths = ['manuals', ...await Promise.all(kinds.map(async ([path, name]) => `${path}/${(await fileOf(id, name))?.id ?? 0}`))]
  for (const path of paths) {
    const reply = await app.inject({ method: 'DELETE', url: `/api/roms/${id}/${path}`, headers: zoe })
    t.match(reply.json(), { detail: 'Insufficient permissions' }, path)
  }
  await sql("delete from permission_grants where entity = 'roms' and action = 'write'")
  for (const path of paths) t.equal((await remove(id, path)).statusCode, 200, path)
  const { items } = (await app.inject({ url: '/api/trash', headers: admin })).json<{ items: unknown[] }>()
  for (const [, name] of kinds) t.match(JSON.stringify(items), name)
})

t.test('replacing a file of a ROM needs the grant and moves the former to the trash', async (t) => {
  const { id } = await addRom()
  t.equal((await upload(id, 'manuals/files', PDF, { name: 'once.pdf' })).statusCode, 201)
  t.equal((await upload(id, 'manuals', PDF)).statusCode, 201)
  await sql(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'roms', 'write', false from permission_groups where is_default on conflict do nothing`)
  t.teardown(() => sql("delete from permission_grants where entity = 'roms' and action = 'write'"))
  const other = Buffer.from('%PDF-other')
  for (const path of ['manuals/files', 'manuals']) {
    t.match((await upload(id, path, other, { name: 'once.pdf', headers: zoe })).json(), { detail: 'Insufficient permissions' }, path)
  }
  t.match(await fileOf(id, 'once.pdf'), { file_size_bytes: PDF.length })
  t.equal((await upload(id, 'manuals/files', other, { name: 'new.pdf', headers: zoe })).statusCode, 201, 'a new name needs no grant')
  t.equal((await upload(id, 'manuals/files', other, { name: 'once.pdf' })).statusCode, 201)
  t.match(await fileOf(id, 'once.pdf'), { file_size_bytes: other.length })
  const { items } = (await app.inject({ url: '/api/trash', headers: admin })).json<{ items: unknown[] }>()
  t.match(JSON.stringify(items), 'once.pdf')
})

t.test('a file of another kind, name or part is refused and changes nothing', async (t) => {
  const { id, path } = await addRom()
  t.match((await upload(id, 'screenshots', PDF)).json(), { detail: /'guide\.pdf'.*\.png/ })
  for (const name of ['../x.pdf', 'a/b.pdf', 'a\\b.pdf', '..', 'c:x.pdf']) t.equal((await upload(id, 'manuals/files', PDF, { name })).statusCode, 400, name)
  t.equal((await upload(id, 'manuals/files', PDF, { part: 'other' })).statusCode, 400)
  t.equal((await upload(id, 'manuals/files', Buffer.alloc(0))).statusCode, 400)
  t.equal((await app.inject({ method: 'POST', url: `/api/roms/${id}/screenshots`, headers: admin })).statusCode, 422)
  t.equal((await upload(id, 'manuals/files', PDF, { headers: zoe })).statusCode, 403)
  t.equal((await upload(999_999, 'manuals/files', PDF)).statusCode, 404)
  t.same(await readdir(path('')), ['Chrono (Japan).gb'])
  t.match(await get(id), { fs_name: 'Chrono (Japan).gb' })
})

t.test('an added file replaces nothing that no scan has read', async (t) => {
  const { id, path } = await addFolderRom()
  await mkdir(path('Chrono', 'soundtrack', 'b.mp3'), { recursive: true })
  await writeFile(path('Chrono', 'soundtrack', 'a.mp3'), 'copied by hand')
  for (const name of ['a.mp3', 'b.mp3']) {
    const answer = await upload(id, 'soundtracks', makeTrack(), { name })
    t.equal(answer.statusCode, 409, answer.body)
    t.match(answer.json(), { detail: /already exists/ })
  }
  t.equal(await readFile(path('Chrono', 'soundtrack', 'a.mp3'), 'utf8'), 'copied by hand')
  const both = await Promise.all([PDF, Buffer.from('%PDF-2')].map((content) => upload(id, 'manuals/files', content)))
  t.ok(both.some(({ statusCode }) => statusCode === 201))
  for (const { statusCode } of both) t.ok([201, 409].includes(statusCode), String(statusCode))
  t.same((await readdir(path(''))).filter((name) => name.endsWith('.part')), [])
})

t.test('a file is not added through a file or a link that leads out of the library', async (t) => {
  const { id, path } = await addFolderRom()
  const outside = t.testdir()
  await writeFile(path('Chrono', 'manual'), 'a file')
  await symlink(outside, path('Chrono', 'screenshots'))
  t.equal((await upload(id, 'manuals/files', PDF)).statusCode, 409)
  const answer = await upload(id, 'screenshots', PNG, { name: 'a.png' })
  t.equal(answer.statusCode, 400, answer.body)
  t.match(answer.json(), { detail: /link leads out/ })
  t.same(await readdir(outside), [])
})

t.test('a file is added to a ROM whose platform folder links to another disk', async (t) => {
  const { id, folder, path } = await addRom('Chrono')
  const disk = t.testdir()
  await rename(path(''), join(disk, 'roms'))
  await symlink(join(disk, 'roms'), join(libraryDir, 'roms', folder))
  const answer = await upload(id, 'manuals/files', PDF)
  t.equal(answer.statusCode, 201, answer.body)
  t.same(await readFile(join(disk, 'roms', 'Chrono', 'manual', 'guide.pdf')), PDF)
})

t.test('a ROM gets no folder that scans skip', async (t) => {
  const { id, path } = await addRom('covers.gb')
  const convert = await app.inject({ method: 'POST', url: `/api/roms/${id}/convert-to-folder`, headers: admin })
  for (const answer of [convert, await upload(id, 'manuals/files', PDF)]) {
    t.equal(answer.statusCode, 409, answer.body)
    t.match(answer.body, /Scans skip the folder 'covers'/)
  }
  t.same(await readdir(path('')), ['covers.gb'])
})

t.test('a file whose name scans skip is not added', async (t) => {
  const { id } = await addRom()
  t.match((await upload(id, 'manuals/files', PDF, { name: 'a.draft.pdf' })).json(), { detail: /Scans skip/ })
  t.match(await get(id), { fs_name: 'Chrono (Japan).gb' })
})

t.test('a taken folder name is refused, but an empty folder is replaced', async (t) => {
  const first = await addRom()
  await put({ [`roms/${first.folder}/Chrono (Japan)/x.bin`]: 'x' })
  t.equal((await upload(first.id, 'screenshots', PNG, { name: 'a.png' })).statusCode, 409)
  t.same((await readdir(first.path(''))).sort(), ['Chrono (Japan)', 'Chrono (Japan).gb'])
  const second = await addRom('Bare')
  t.equal((await upload(second.id, 'screenshots', PNG, { name: 'a.png' })).statusCode, 201)
  t.same(await readdir(second.path('Bare')), ['Bare', 'screenshots'])
  t.match(await fileOf(second.id, 'a.png'), { category: 'screenshot' })
  t.same(await sql('select * from rom_renames'), [])
})

t.test('the next scan finishes a conversion that crashed at any step', async (t) => {
  const { id, folder, path } = await addRom('Bare')
  const note = () => sql(
    'insert into rom_renames (rom_id, platform_id, fs_name) select id, platform_id, fs_name from roms where id = $1', [id])
  await note()
  await rename(path('Bare'), path('.Bare.part'))
  await scan({ platform_fs_slugs: [folder] })
  t.match(await get(id), { fs_name: 'Bare', missing_from_fs: false, is_folder: undefined })
  t.same(await readdir(path('')), ['Bare'])
  await note()
  await rename(path('Bare'), path('.Bare.part'))
  await mkdir(path('Bare'))
  await scan({ platform_fs_slugs: [folder] })
  t.match(await get(id), { fs_name: 'Bare', missing_from_fs: false, has_nested_single_file: true })
  t.same(await readdir(path('Bare')), ['Bare'])
})

t.test('tags of music are shown with its cover', async (t) => {
  const { id, path } = await addRom()
  t.equal((await upload(id, 'soundtracks', makeTrack(), { name: 'theme.mp3' })).statusCode, 201)
  t.equal((await upload(id, 'soundtracks', Buffer.from('no music'), { name: 'a.ogg' })).statusCode, 201)
  const tracks = (await app.inject({ url: `/api/roms/${id}/soundtracks/metadata`, headers: admin })).json<{ file_id: number, track_meta: { cover_path: string } | null }[]>()
  t.match(tracks, [{ file_name: 'a.ogg' }, {
    file_name: 'theme.mp3',
    track_meta: { title: 'Harbor Theme', artist: 'The Choir', year: 1994, track: 3, has_embedded_cover: true, duration_seconds: Number }
  }])
  t.match(await get(id), { has_soundtrack: true })
  const cover = await app.inject({ url: `/assets/svc/resources/${tracks[1]?.track_meta?.cover_path ?? ''}`, headers: admin })
  t.match(cover, { statusCode: 200, headers: { 'content-type': 'image/png' } })
  t.equal((await remove(id, `screenshots/${tracks[1]?.file_id ?? 0}`)).statusCode, 404)
  for (const { file_id: file } of tracks) t.equal((await remove(id, `soundtracks/${file}`)).statusCode, 200)
  t.match(await get(id), { has_soundtrack: false })
  t.same(await readdir(path('Chrono (Japan)', 'soundtrack')), [])
  t.same(await readdir(join(resources, 'roms', String((await sql<{ p: number }>('select platform_id as p from roms where id = $1', [id]))[0]?.p), String(id), 'soundtracks')), [])
})

interface FoundTrack { file_id: number, file_name: string, track_meta: { cover_path: string | null } | null }
const tracksOf = async (id: number): Promise<FoundTrack[]> =>
  (await app.inject({ url: `/api/roms/${id}/soundtracks/metadata`, headers: admin })).json()

/** Returns the tags of the files of a ROM, after all were read. */
async function taggedOf (id: number): Promise<FoundTrack[]> {
  await until(async () => (await sql(`select 1 from rom_files where rom_id = $1 and category = 'soundtrack'
    and tags_of is distinct from last_modified`, [id])).length === 0, 'the tags to be read')
  return await tracksOf(id)
}
const coversOf = async (id: number): Promise<string[]> => {
  const [row] = await sql<{ p: number }>('select platform_id as p from roms where id = $1', [id])
  return await readdir(join(resources, 'roms', String(row?.p), String(id), 'soundtracks'))
}

t.test('music found by a scan is read in the background, with any tag format', async (t) => {
  const folder = `platform ${count++}`
  const place = `roms/${folder}/Lute`
  const tags: Tags = { title: 'Äther', artist: 'Ensemble', album: 'Lute OST', genre: 'Folk', date: 'May 2001', track: '7/12', disc: '2' }
  const told = { title: 'Äther', artist: 'Ensemble', album: 'Lute OST', genre: 'Folk', year: 2001, track: 7, disc: 2 }
  await put({
    [`${place}/Lute.gb`]: 'lute',
    [`${place}/soundtrack/1.flac`]: makeFlac(tags, { type: 'image/png', content: PNG }),
    [`${place}/soundtrack/2.m4a`]: makeM4a(tags),
    [`${place}/soundtrack/3.mp3`]: makeMp3({ TIT2: 'Äther', TPE1: 'Ensemble', TALB: 'Lute OST', TCON: 'Folk', TYER: '2001', TRCK: '7/12', TPOS: '2' }),
    [`${place}/soundtrack/bonus/1.flac`]: makeFlac({ title: 'Other' }, { type: 'image/gif', content: PNG }),
    [`${place}/soundtrack/empty.mp3`]: '',
    [`${place}/soundtrack/noise.ogg`]: Buffer.alloc(5_000, 0x4f)
  })
  await scan({ platform_fs_slugs: [folder] })
  const { id } = await rom(folder, 'Lute')
  const tracks = await taggedOf(id)
  const read = (name: string) => tracks.filter(({ file_name: one }) => one === name).map(({ track_meta: meta }) => meta)
  for (const name of ['1.flac', '2.m4a', '3.mp3']) t.match(read(name)[0], told, name)
  t.match(read('1.flac'), [{ has_embedded_cover: true, duration_seconds: Number }, { title: 'Other', artist: null, year: null, cover_path: null }])
  t.same([read('empty.mp3'), read('noise.ogg')], [[null], [null]])
  const [first] = tracks
  t.same(await coversOf(id), [`${first?.file_id ?? 0}.png`])
  t.match(await app.inject({ url: `/assets/svc/resources/${String(first?.track_meta?.cover_path)}`, headers: admin }),
    { statusCode: 200, headers: { 'content-type': 'image/png' } })

  await put({ [`${place}/soundtrack/1.flac`]: makeFlac({ title: 'Anew', artist: 'Somebody' }), [`${place}/soundtrack/3.mp3`]: 'no music any more' })
  await scan({ platform_fs_slugs: [folder] })
  const after = await taggedOf(id)
  t.match(after.filter(({ file_name: name }) => name === '1.flac' || name === '3.mp3'),
    [{ file_id: first?.file_id, track_meta: { title: 'Anew', artist: 'Somebody', album: null, cover_path: null } }, { track_meta: { title: 'Other' } }, { track_meta: null }])
  t.ok(await until(async () => (await coversOf(id)).length === 0, 'a folder without the former cover'))
})

t.test('covers of music are deleted with their files, and survive a complete scan', async (t) => {
  const { id, folder, path } = await addRom()
  for (const name of ['a.mp3', 'b.mp3']) t.equal((await upload(id, 'soundtracks', makeTrack(), { name })).statusCode, 201)
  const ids = (await tracksOf(id)).map((track) => track.file_id)
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.same((await coversOf(id)).sort(), ids.map((one) => `${one}.png`).sort())
  await rm(path('Chrono (Japan)', 'soundtrack', 'a.mp3'))
  await scan({ platform_fs_slugs: [folder] })
  t.same(await coversOf(id), [`${ids[1] ?? 0}.png`])
  t.same((await tracksOf(id)).map((track) => track.file_name), ['b.mp3'])
})

t.test('a manual outside of the library replaces the former, and scans keep it', async (t) => {
  const { id, folder } = await addRom()
  t.equal((await upload(id, 'manuals', Buffer.from('# Guide'), { name: 'some/path/Guide.md', raw: true })).statusCode, 201)
  t.match(await get(id), { has_manual: true, path_manual: new RegExp(`manual/${id}\\.md$`), fs_name: 'Chrono (Japan).gb' })
  t.equal((await upload(id, 'manuals', PDF)).statusCode, 201)
  t.same(await readdir(join(resources, 'roms', String((await sql<{ p: number }>('select platform_id as p from roms where id = $1', [id]))[0]?.p), String(id), 'manual')), [`${id}.pdf`])
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.match(await get(id), { has_manual: true })
  t.equal((await remove(id, 'manuals')).statusCode, 200)
  t.match(await get(id), { has_manual: false, path_manual: '', url_manual: '' })
  t.match((await remove(id, 'manuals')).json(), { detail: 'No manual found for this ROM' })
})

t.test('a manual is downloaded again from its address', async (t) => {
  const { id } = await addRom()
  const refetch = () => app.inject({ method: 'POST', url: `/api/roms/${id}/manuals/redownload`, headers: admin })
  t.match((await refetch()).json(), { detail: 'No scraped manual URL available for this ROM' })
  await app.inject({ method: 'PUT', url: `/api/roms/${id}`, headers: admin, payload: { url_manual: `${server.url}/manual.pdf` } })
  manual = Buffer.from('%PDF-1.7\nlonger now\n%%EOF\n')
  const answer = await refetch()
  t.equal(answer.statusCode, 200, answer.body)
  const [stored] = await sql<{ path: string }>('select path_manual as path from roms where id = $1', [id])
  t.same(await readFile(join(resources, stored?.path ?? '')), manual)
  manual = null
  t.equal((await refetch()).statusCode, 400)
})
