import { createHash } from 'node:crypto'
import { access, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { io } from 'socket.io-client'
import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import type { Match } from '@svc/plugin-sdk'
import { SIGNED_IN_ROOM } from '../../../core/sockets/sockets.ts'
import { temporaryNameOf } from '../../../plugins/renames/rename-rom.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { until } from '../../until.ts'
import { signIn } from '../auth/support.ts'
import { scriptOf } from '../fixtures/script.ts'
import { vault } from '../fixtures/vault.ts'
import { BLUE, PDF, RED, startEditing } from './editing-support.ts'

const { server, app, admin, put, scan, sql, dataDir, addRom, get, edit } = await startEditing(t)

const digest = scriptOf('digest')
const resources = join(dataDir, 'resources')
const locked = async (id: number): Promise<string[]> =>
  (await app.inject({ url: `/api/roms/${id}/sources`, headers: admin })).json<{ locked: string[] }>().locked

async function editForm (id: number, file: Buffer, name = 'cover.png'): Promise<LightMyRequestResponse> {
  const head = `--x\r\ncontent-disposition: form-data; name="artwork"; filename="${name}"\r\ncontent-type: image/png\r\n\r\n`
  return await app.inject({
    method: 'PUT',
    url: `/api/roms/${id}`,
    headers: { ...admin, 'content-type': 'multipart/form-data; boundary=x' },
    payload: Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--x--\r\n')])
  })
}

async function contentAt (address: string): Promise<Buffer> {
  const answer = await app.inject({ url: address, headers: admin })
  return answer.statusCode === 200 ? answer.rawPayload : Buffer.alloc(0)
}
const exists = (path: string) => access(path).then(() => true, () => false)

t.test('locked values survive a complete scan and are unlocked on request', async (t) => {
  const { id, folder } = await addRom()
  const found = (): Match<Record<string, unknown>, number> => ({ id: 41, name: 'Chrono Harbor', summary: 'Islands', genres: ['Racing'] })
  vault.identify = found
  vault.getById = found
  const manual = JSON.stringify({ genres: ['Puzzle'], companies: [], first_release_date: 'soon' })
  const answer = await edit(id, { name: 'Mine', summary: 'My words', raw_manual_metadata: manual })
  t.equal(answer.statusCode, 200, answer.body)
  t.match(answer.json(), { name: 'Mine', name_sort_key: 'mine', summary: 'My words', metadatum: { genres: ['Puzzle'] } })
  t.same(await locked(id), ['name', 'summary', 'manual_metadata'])
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.match(await get(id), { vault_id: 41, name: 'Mine', summary: 'My words', metadatum: { genres: ['Puzzle'] } })
  t.match((await edit(id, { summary: 'Islands' })).json(), { summary: 'Islands' })
  t.same(await locked(id), ['name', 'manual_metadata'], 'what the source says as well is its own')
  t.match((await edit(id, { name: '' }, '?unlock=manual_metadata')).json(),
    { name: 'Chrono Harbor', name_sort_key: 'chrono harbor', manual_metadata: {}, metadatum: { genres: ['Racing'] } })
  t.same(await locked(id), [])
})

t.test('a text that was cut within an emoji is stored', async (t) => {
  const { id } = await addRom()
  const payload = { name: 'Cut \ud83c', raw_manual_metadata: String.raw`{"genres":["Puzzle\ud83c", "Racing\u0000"]}` }
  const answer = await app.inject({ method: 'PUT', url: `/api/roms/${id}`, headers: admin, payload })
  t.match(answer, { statusCode: 200 }, answer.body)
  t.match(answer.json(), { name: 'Cut \ufffd', metadatum: { genres: ['Puzzle\ufffd', 'Racing'] } })
})

t.test('an empty file as cover is refused, a form without a chosen file is not', async (t) => {
  const { id } = await addRom()
  const answer = await editForm(id, Buffer.alloc(0), 'empty.png')
  t.match(answer, { statusCode: 400, body: /'empty\.png' is not a picture/ })
  t.equal((await editForm(id, Buffer.alloc(0), '')).statusCode, 200)
})

t.test('a sort key set by hand stays beside a new name until it is emptied', async (t) => {
  const { id } = await addRom()
  t.match((await edit(id, { name_sort_key: 'The Zebra 2' })).json(), { name: 'Chrono', name_sort_key: 'zebra 000000000002' })
  t.match((await edit(id, { name: 'Another', name_sort_key: 'zebra 000000000002' })).json(), { name_sort_key: 'zebra 000000000002' })
  t.match((await edit(id, { name_sort_key: '' })).json(), { name: 'Another', name_sort_key: 'another' })
})

t.test('a record written by hand applies while its id is set; invalid JSON is ignored', async (t) => {
  const { id, folder } = await addRom()
  vault.getById = (wanted) => ({ id: wanted, name: 'Game', metadata: { note: 'theirs' } })
  const record = async () => (await sql<{ record: unknown }>(
    "select match -> 'metadata' as record from rom_matches where rom_id = $1", [id]))[0]?.record
  await edit(id, { raw_vault_metadata: '{"note": "early"}' })
  t.same(await record(), undefined)
  await edit(id, { vault_id: '7', raw_vault_metadata: '{"note": "mine"}' })
  t.same(await record(), { note: 'theirs' }, 'what is fetched with a new id replaces it')
  await edit(id, { raw_vault_metadata: '{"note": "mine"}' })
  await edit(id, { raw_vault_metadata: '{broken' })
  await scan({ platform_fs_slugs: [folder], type: 'update' })
  t.same(await record(), { note: 'mine' })
})

t.test('a record that contradicts the schema of its provider is refused with the field', async (t) => {
  const { id } = await addRom()
  digest.getById = (wanted) => ({ id: wanted, name: 'Game', metadata: { pages: 7, author: 'A' } })
  await edit(id, { digest_id: '7' })
  const WRONG: [object, string[], string][] = [
    [{ pages: 'many' }, ['pages'], 'raw_digest_metadata.pages is "many"; send a whole number'],
    [{ pages: 1, author: null }, ['author'], 'raw_digest_metadata.author is null; send a text']
  ]
  for (const [record, path, msg] of WRONG) {
    const answer = await edit(id, { name: 'Not stored', raw_digest_metadata: JSON.stringify(record) })
    t.match({ status: answer.statusCode, ...answer.json() }, {
      status: 422, detail: [{ loc: ['body', 'raw_digest_metadata', ...path], msg }]
    })
  }
  for (const name of ['raw_digest_metadata', 'raw_manual_metadata']) {
    for (const text of ['[]', '5', '"x"']) {
      const answer = await edit(id, { [name]: text })
      t.match({ status: answer.statusCode, ...answer.json() }, {
        status: 422, detail: [{ loc: ['body', name], msg: `${text} is not a JSON object; send one, such as {}` }]
      })
    }
  }
  t.match(await get(id), { name: 'Game', digest_metadata: { pages: 7, author: 'A' } })
  for (const record of [null, { author: 'B' }, { pages: 8, further: [1], image_path: 'x' }, {}]) {
    t.equal((await edit(id, { raw_digest_metadata: JSON.stringify(record) })).statusCode, 200, JSON.stringify(record))
  }
})

t.test('a stored record that its provider no longer allows may be sent back', async (t) => {
  const { id } = await addRom()
  await edit(id, { digest_id: '7' })
  await sql('update rom_matches set match = match || \'{"metadata": {"pages": "many"}}\' where rom_id = $1', [id])
  t.equal((await edit(id, { raw_digest_metadata: '{"pages": "many"}' })).statusCode, 200)
})

t.test('the fields of a record written by hand reach the game, also after scans', async (t) => {
  const { id, folder } = await addRom()
  vault.getById = (wanted) => ({ id: wanted, name: 'Game', genres: ['Racing'], player_count: '2', metadata: {} })
  await edit(id, { vault_id: '7' })
  const record = {
    genres: ['Puzzle', 5, ' '], companies: [{ name: 'Makers' }], age_ratings: [{ rating: 'E', category: 'ESRB' }],
    alternate_titles: ['Other'], moby_score: '8.1', first_release_date: '788918400', collections: 'none'
  }
  const written = (await edit(id, { raw_vault_metadata: JSON.stringify(record) })).json()
  const wanted = {
    metadatum: {
      genres: ['Puzzle'], companies: ['Makers'], age_ratings: ['E'], collections: [], player_count: '2', average_rating: 81,
      first_release_date: 788_918_400_000
    },
    alternative_names: ['Other']
  }
  t.match(written, wanted)
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.match(await get(id), wanted)
  t.match((await edit(id, { raw_vault_metadata: '{"first_release_date": "19940319T120000"}' })).json(), {
    metadatum: { first_release_date: Date.UTC(1994, 2, 19, 12), genres: ['Puzzle'] }
  })
})

t.test('an id that is no number of 32 bits means none', async (t) => {
  const { id } = await addRom()
  for (const [text, stored] of [['2147483647', 2_147_483_647], ['2147483648', null], ['99999999999', null], ['x', null]] as const) {
    t.match((await edit(id, { vault_id: text })).json(), { vault_id: stored }, text)
  }
})

t.test('unknown fields of a form are ignored', async (t) => {
  const { id } = await addRom()
  const answer = await edit(id, { name: 'Known', is_public: 'true', gamelist_path: 'x' })
  t.match({ status: answer.statusCode, ...answer.json() }, { status: 200, name: 'Known' })
})

t.test('a cover comes by address or upload, or is removed, and survives a scan', async (t) => {
  const { id, folder } = await addRom()
  vault.identify = () => ({ id: 41, name: 'Chrono', media: [{ kind: 'cover', url: `${server.url}/blue.png` }] })
  t.match((await edit(id, { url_cover: `${server.url}/red.png` })).json(), { url_cover: `${server.url}/red.png` })
  const byUrl = await get(id)
  t.same(await contentAt(byUrl.path_cover_large), RED)
  t.ok((await contentAt(byUrl.path_cover_small)).length > 0)
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.same(await contentAt((await get(id)).path_cover_large), RED)
  const uploaded = await editForm(id, BLUE)
  t.match(uploaded.json(), { url_cover: '' }, uploaded.body)
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.same(await contentAt((await get(id)).path_cover_large), BLUE)
  const [stored] = await sql<{ path: string }>('select path_cover_large as path from roms where id = $1', [id])
  t.equal((await readdir(join(resources, stored?.path ?? '', '..'))).filter((name) => name.startsWith('own-')).length, 2, 'the former cover is gone')
  t.match((await edit(id, { url_cover: '' }, '?remove_cover=true')).json(), { url_cover: '', path_cover_large: '', path_cover_small: '' })
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.match(await get(id), { path_cover_large: '', url_cover: '' })
  await edit(id, {}, '?unlock=url_cover')
  t.same(await contentAt((await get(id)).path_cover_large), BLUE, 'the source gives its own at once')
})

t.test('a refused address and a file that is not a picture change nothing', async (t) => {
  const { id } = await addRom()
  for (const url of ['file:///etc/passwd', 'javascript:1', 'http://127.0.0.1:9/x.png', 'http://169.254.169.254/latest', `${server.url}/page.png`]) {
    const answer = await edit(id, { url_cover: url, name: 'Changed' })
    t.equal(answer.statusCode, 400, `${url}: ${answer.body}`)
  }
  t.equal((await editForm(id, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).statusCode, 400)
  t.equal((await editForm(id, PDF)).statusCode, 400)
  t.match(await get(id), { name: 'Chrono', url_cover: '' })
  await until(async () => (await readdir(join(resources, '.unfinished'))).length === 0, 'nothing is left of what was sent')
})

t.test('a manual is downloaded from an address', async (t) => {
  const { id } = await addRom()
  const answer = await edit(id, { url_manual: `${server.url}/manual.pdf` })
  t.match(answer.json(), { url_manual: `${server.url}/manual.pdf`, path_manual: /manual\/\d+\.pdf/ }, answer.body)
  t.equal((await edit(id, { url_manual: `${server.url}/page.png` })).statusCode, 400)
})

t.test('a file is renamed on disk together with everything that refers to it', async (t) => {
  const { id, path } = await addRom()
  await app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: admin, payload: { rating: 7 } })
  const answer = await edit(id, { fs_name: 'Harbor/Tale (USA) (Beta).zip' })
  t.match(answer.json(), {
    id, fs_name: 'HarborTale (USA) (Beta).zip', fs_extension: 'zip', regions: ['USA'], tags: ['Beta'], name: 'HarborTale',
    rom_user: { rating: 7 }, files: [{ file_name: 'HarborTale (USA) (Beta).zip' }]
  }, answer.body)
  t.ok(await exists(path('HarborTale (USA) (Beta).zip')))
  t.notOk(await exists(path('Chrono (Japan).gb')))
})

t.test('a renamed ROM that was missing is present', async (t) => {
  const { id } = await addRom('Back.gb')
  await sql('update roms set missing_from_fs = true where id = $1', [id])
  t.match((await edit(id, { fs_name: 'Here.gb' })).json(), { fs_name: 'Here.gb', missing_from_fs: false })
})

t.test('the next scan hashes a file again that was given another extension', async (t) => {
  const { id, path, folder } = await addRom('Packed.bin')
  await writeFile(path('Packed.bin'), gzipSync('the packed content'))
  await scan({ platform_fs_slugs: [folder] })
  await edit(id, { fs_name: 'Packed.gz' })
  await scan({ platform_fs_slugs: [folder] })
  const sha1 = createHash('sha1').update('the packed content').digest('hex')
  t.match(await get(id), { fs_name: 'Packed.gz', sha1_hash: sha1, files: [{ sha1_hash: sha1 }] })
})

t.test('a folder is renamed as a whole, also if only the case changes', async (t) => {
  const { id, path, folder } = await addRom('Chrono', { '/disc 1.bin': 'one', '/sub/Chrono.bin': 'two' })
  t.match((await edit(id, { fs_name: 'chrono' })).json(), { fs_name: 'chrono' })
  t.same(await readdir(path('chrono')), ['disc 1.bin', 'sub'])
  const { files } = await get(id)
  t.same(files.map((file) => file.full_path).sort(), [`roms/${folder}/chrono/disc 1.bin`, `roms/${folder}/chrono/sub/Chrono.bin`])
  const { meta } = await scan({ platform_fs_slugs: [folder] })
  t.match(meta.scan_stats, { new_roms: 0, updated_roms: 0 })
})

t.test('a name that is taken, even on disk only, is refused and changes nothing', async (t) => {
  const { id, path, folder } = await addRom()
  await put({ [`roms/${folder}/Other.gb`]: 'other', [`roms/${folder}/Second.gb`]: 'second' })
  const answer = await edit(id, { fs_name: 'Other.gb', name: 'Changed' })
  t.equal(answer.statusCode, 409)
  t.match(answer.json(), { detail: "'Other.gb' already exists; give another fs_name" })
  t.equal((await edit(id, { fs_name: '..' })).statusCode, 400)
  t.equal((await edit(id, { fs_name: 'x.part' })).statusCode, 400)
  t.match(await get(id), { fs_name: 'Chrono (Japan).gb', name: 'Chrono' })
  t.equal(await readFile(path('Other.gb'), 'utf8'), 'other')
  t.same(await sql('select * from rom_renames'), [])
})

t.test('the next scan finishes a rename after a crash between disk and database', async (t) => {
  const { id, path, folder } = await addRom('Same.gb', { '': 'same content' })
  await put({ [`roms/${folder}/Twin.gb`]: 'same content' })
  await scan({ platform_fs_slugs: [folder] })
  const note = (name: string) => sql(
    'insert into rom_renames (rom_id, platform_id, fs_name) select id, platform_id, $2 from roms where id = $1', [id, name])
  await note('Never.gb')
  await scan({ platform_fs_slugs: [folder] })
  t.match(await get(id), { fs_name: 'Same.gb', missing_from_fs: false })
  await note('Renamed.gb')
  await rename(path('Same.gb'), path('Renamed.gb'))
  const { meta } = await scan({ platform_fs_slugs: [folder] })
  t.match(await get(id), { fs_name: 'Renamed.gb', missing_from_fs: false })
  t.match(meta.scan_stats, { new_roms: 0 })
  t.same(await sql('select * from rom_renames'), [])
})

t.test('a scan leaves the rename of a living process alone', async (t) => {
  const { id, path, folder } = await addRom('Living.gb')
  await app.workers.runLocked(`rename of ROM ${id}`, async () => {
    await sql("insert into rom_renames (rom_id, platform_id, fs_name) select id, platform_id, 'Moved.gb' from roms where id = $1", [id])
    await scan({ platform_fs_slugs: [folder] })
    t.match(await sql('select rom_id from rom_renames'), [{ rom_id: id }])
  })
  await rename(path('Living.gb'), path('Moved.gb'))
  await scan({ platform_fs_slugs: [folder] })
  t.match(await get(id), { fs_name: 'Moved.gb', missing_from_fs: false })
  t.same(await sql('select rom_id from rom_renames'), [])
})

t.test('long names without extension have different temporary names of a valid length', async (t) => {
  const long = '𝔊'.repeat(60)
  const [one, two] = [temporaryNameOf(`${long} I`), temporaryNameOf(`${long} II`)]
  t.not(one, two)
  for (const name of [one, two]) t.ok(Buffer.byteLength(name) <= 255 && name.isWellFormed(), name)
  t.equal(temporaryNameOf('Bare'), '.Bare.part')
})

t.test('a genre that a person wrote twice counts once', async (t) => {
  const { id } = await addRom()
  const [{ platform_id: platform } = {}] = await sql<{ platform_id: number }>('select platform_id from roms where id = $1', [id])
  await edit(id, { raw_manual_metadata: JSON.stringify({ genres: ['Twice', 'Other', 'Twice'] }) })
  t.same((await get(id)).metadatum.genres.toSorted(), ['Other', 'Twice'])
  const page = await app.inject({ url: `/api/roms?with_filter_counts=true&platform_ids=${platform}`, headers: admin })
  t.same(page.json<{ filter_counts: { genres: object } }>().filter_counts.genres, { Other: 1, Twice: 1 })
})

t.test('users who may see a ROM receive an event of a change', async (t) => {
  const { id } = await addRom()
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnection: false, extraHeaders: await signIn(app, 'admin') })
  t.teardown(() => socket.disconnect())
  await new Promise<void>((resolve) => { socket.on('connect', resolve) })
  await until(() => app.sockets.main.sockets.adapter.rooms.has(SIGNED_IN_ROOM), 'the socket is bound to its session')
  await awaitEarlierEvents(socket, app)
  const heard = new Promise<object>((resolve) => { socket.on('rom:updated', resolve) })
  await edit(id, { name: 'Told' })
  t.match(await heard, { id, name: 'Told' })
})
