import { access, readFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import fc from 'fast-check'
import sharp from 'sharp'
import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import type { Match } from '@svc/plugin-sdk'
import { SIGNED_IN_ROOM } from '../../../core/sockets/sockets.ts'
import { applyEdit } from '../../../plugins/editing/apply-edit.ts'
import { type ProviderMatch, createMatchUpdates } from '../../../plugins/matching/matches.ts'
import { toMergeBase } from '../../../plugins/matching/merge-base.ts'
import { type Priorities, mergeMatches } from '../../../plugins/matching/merge-matches.ts'
import { listLockedMatches } from '../../../plugins/matching/field-locks.ts'
import { LOCKABLE_COLUMNS } from '../../../plugins/roms/rom-columns.ts'
import type { LookupRom } from '../../../plugins/matching/stored-rows.ts'
import { SCAN_TYPES } from '../../../plugins/matching/scan-types.ts'
import { temporaryNameOf } from '../../../plugins/renames/rename-rom.ts'
import { startServer } from '../../core/http/server.ts'
import { until } from '../../until.ts'
import { signIn } from '../auth/support.ts'
import { resetVault, vault } from '../fixtures/vault.ts'
import { buildScanTest } from '../scans/support.ts'

const picture = (background: string) =>
  sharp({ create: { width: 30, height: 40, channels: 3, background } }).png().toBuffer()
const [RED, BLUE] = await Promise.all([picture('#ff0000'), picture('#0000ff')])
const PDF = Buffer.from('%PDF-1.7\nsmall\n%%EOF\n')
const FILES: Record<string, [type: string, content: Buffer]> = {
  '/red.png': ['image/png', RED], '/blue.png': ['image/png', BLUE], '/manual.pdf': ['application/pdf', PDF],
  '/page.png': ['text/html', Buffer.from('<html>')]
}
const server = await startServer(t, (request, response) => {
  const [type, content] = FILES[(request.url ?? '').split('?')[0] ?? ''] ?? []
  if (content === undefined) response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': type }).end(content)
})

const test = await buildScanTest(t, {
  providers: ['shelf', 'vault'],
  config: { scan: { media: ['manual'] }, plugins: { vault: { base_url: server.url } } }
})
const { app, admin, put, scan, rom, sql, libraryDir, dataDir } = test
const resources = join(dataDir, 'resources')
let count = 0

interface Detail {
  id: number
  name: string
  name_sort_key: string
  summary: string | null
  fs_name: string
  fs_extension: string
  full_path: string
  regions: string[]
  tags: string[]
  url_cover: string
  path_cover_large: string
  path_cover_small: string
  path_manual: string
  vault_id: number | null
  shelf_id: string | null
  manual_metadata: object
  metadatum: { genres: string[] }
  files: { file_name: string, full_path: string }[]
}

t.beforeEach(() => { resetVault() })

/** Creates a ROM for each test, on its own platform. */
async function addRom (fsName = 'Chrono (Japan).gb', files: Record<string, string> = { '': `tale ${count}` }) {
  const folder = `platform ${count++}`
  await put(Object.fromEntries(Object.entries(files).map(([path, content]) => [`roms/${folder}/${fsName}${path}`, content])))
  await scan({ platform_fs_slugs: [folder] })
  const { id } = await rom(folder, fsName)
  return { id, folder, path: (name: string) => join(libraryDir, 'roms', folder, name) }
}

const get = async (id: number): Promise<Detail> => (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json()
const locked = async (id: number): Promise<string[]> =>
  (await app.inject({ url: `/api/roms/${id}/sources`, headers: admin })).json<{ locked: string[] }>().locked

async function edit (id: number, fields: Record<string, string>, query = ''): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'PUT',
    url: `/api/roms/${id}${query}`,
    headers: { ...admin, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString()
  })
}

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

t.test('a sort key set by hand stays beside a new name until it is emptied', async (t) => {
  const { id } = await addRom()
  t.match((await edit(id, { name_sort_key: 'The Zebra 2' })).json(), { name: 'Chrono', name_sort_key: 'zebra 000000000002' })
  t.match((await edit(id, { name: 'Another', name_sort_key: 'zebra 000000000002' })).json(), { name_sort_key: 'zebra 000000000002' })
  t.match((await edit(id, { name_sort_key: '' })).json(), { name: 'Another', name_sort_key: 'another' })
})

t.test('a scan keeps the chosen game of a provider, or the choice of none', async (t) => {
  const { id, folder } = await addRom()
  vault.getById = (wanted) => ({ id: wanted, name: `Game ${wanted}`, slug: `game-${wanted}` })
  await edit(id, { vault_id: '7' })
  vault.identify = () => ({ id: 9, name: 'Wrong', slug: 'wrong', score: 1 })
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.match(await get(id), { vault_id: 7, name: 'Game 7' })
  await edit(id, { vault_id: '' })
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  await scan({ platform_fs_slugs: [folder], type: 'unmatched' })
  t.match(await get(id), { vault_id: null })
  await edit(id, {}, '?unlock=vault_id')
  await scan({ platform_fs_slugs: [folder], type: 'unmatched' })
  t.match(await get(id), { vault_id: 9 })
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

t.test('users who may see a ROM receive an event of a change', async (t) => {
  const { id } = await addRom()
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnection: false, extraHeaders: await signIn(app, 'admin') })
  t.teardown(() => socket.disconnect())
  await new Promise<void>((resolve) => { socket.on('connect', resolve) })
  await until(() => app.sockets.main.sockets.adapter.rooms.has(SIGNED_IN_ROOM), 'the socket is bound to its session')
  const heard = new Promise<object>((resolve) => { socket.on('rom:updated', resolve) })
  await edit(id, { name: 'Told' })
  t.match(await heard, { id, name: 'Told' })
})

t.test('after any edits, scans and unlocks, scans keep the values that a person set', (t) => {
  const KEYS = ['a', 'b'] as const
  const priorities: Priorities = {
    metadata: KEYS, cover: KEYS, screenshot: KEYS, manual: KEYS, media: ['cover', 'manual'], claims: new Map([['b', ['name', 'media']]]), predecessorCounts: new Map()
  }
  const isIdOf = (key: string) => KEYS.some((one) => one === key)
  const text = fc.constantFrom('', 'x', 'y', 'z')
  const match = fc.record({ id: fc.integer({ min: 1, max: 3 }), name: text, summary: text, genres: fc.subarray(['g', 'h']) }, { requiredKeys: ['id'] })
    .map((one): ProviderMatch => ({ ...one, media: [{ kind: 'cover', url: `https://x/${one.id}` }] }))
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('edit' as const),
      texts: fc.record({ name: text, summary: text, name_sort_key: text, url_cover: fc.constantFrom('https://x/1', 'https://x/9') }, { requiredKeys: [] }),
      id: fc.option(fc.integer({ min: 1, max: 3 })),
      key: fc.constantFrom(...KEYS),
      unlock: fc.subarray([...LOCKABLE_COLUMNS, 'a_id', 'b_id'])
    }),
    fc.record({
      kind: fc.constant('scan' as const), type: fc.constantFrom(...SCAN_TYPES), says: fc.dictionary(fc.constantFrom(...KEYS), fc.option(match))
    })
  )
  const first: LookupRom = {
    id: 1, library_id: 1, fs_name: 'f.gb', fs_name_no_ext: 'f', fs_name_no_tags: 'f', fs_extension: 'gb', fs_path: 'roms/gb', is_folder: false,
    name: 'f', name_sort_key: 'f', summary: null, regions: [], languages: [], tags: [], revision: null, crc_hash: '', md5_hash: '',
    sha1_hash: '', ra_hash: null, url_cover: null, path_cover_large: null, path_cover_small: null, url_screenshots: [],
    path_screenshots: [], url_manual: null, path_manual: null, media: {}, badges: [],
    own_fields: [], manual_metadata: null, edits: 0
  }
  const pictureOf = (url: string | null | undefined) => url === null || url === undefined ? null : 'there'
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
    let row = first
    let stored = new Map<string, ProviderMatch>()
    for (const one of steps) {
      if (one.kind === 'edit') {
        const before = stored.get(one.key)
        const isSame = (before !== undefined && 'id' in before ? before.id : null) === one.id
        if (!isSame && one.id !== null) stored.set(one.key, { id: one.id, name: `chosen ${one.id}` })
        else if (!isSame) stored.delete(one.key)
        const edited = { matches: stored, ids: isSame ? [] : [one.key], records: [] }
        const { merged, ...rest } = applyEdit(row, edited, one, priorities)
        row = { ...row, ...merged, ...rest, path_cover_large: pictureOf(merged.url_cover) }
        const isSet = (name: keyof typeof one.texts) => one.texts[name] !== undefined && one.texts[name] !== ''
        for (const name of ['name', 'summary'] as const) {
          if (isSet(name) && !one.unlock.includes(name) && row[name] !== one.texts[name]) throw new Error(`the edit of ${name} is lost`)
        }
        continue
      }
      const isFresh = one.type === 'complete'
      const held = listLockedMatches(row.own_fields)
      const findings = createMatchUpdates(one.type, stored, isIdOf, held)
      for (const [key, said] of Object.entries(one.says)) findings.recordResult(key, said === null ? { kind: 'miss' } : { kind: 'match', match: said })
      const { matches: all } = findings.finish(KEYS)
      const merged = mergeMatches(all, toMergeBase(row, isFresh), priorities)
      for (const name of LOCKABLE_COLUMNS) {
        if (row.own_fields.includes(name) && merged[name] !== row[name]) throw new Error(`${name} was overwritten`)
      }
      for (const key of held) {
        const [before, after] = [stored.get(key), all.get(key)].map((found) => found !== undefined && 'id' in found ? found.id : null)
        if (before !== after) throw new Error(`the game of ${key} was replaced`)
      }
      stored = new Map(all)
      row = { ...row, ...merged, path_cover_large: pictureOf(merged.url_cover) }
    }
  }), { numRuns: 300 })
  t.end()
})
