import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { parseByteRange } from '../../../plugins/resources/byte-range.ts'
import { contentDisposition } from '../../../plugins/resources/file-reply.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'
import { character } from '../../any-string.ts'

const COVER = 'roms/1/2/cover/big.png'
const fresh = shareTestApp(t)
/** Returns the marked path of a file, which grants access without a credential. */
const placeOf = ({ app }: TestApp, path: string) => app.resources.marked.toPath(path)

function write ({ config }: TestApp, path: string, content = 'picture'): string {
  const full = join(config.data_dir, 'resources', path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, content)
  return full
}

t.test('a marked address is open to anyone, and cached forever if it has a version', async (t) => {
  const test = await fresh(t)
  write(test, COVER)
  const place = placeOf(test, COVER)
  for (const prefix of ['/assets/romm/resources', '/assets/svc/resources']) {
    const reply = await test.app.inject({ url: `${prefix}/${place}` })
    t.match(reply, { statusCode: 200, body: 'picture' })
    t.match(reply.headers, {
      'content-type': 'image/png',
      'cache-control': 'public, max-age=3600, must-revalidate',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'set-cookie': undefined,
      'content-length': '7'
    })
    const versioned = await test.app.inject({ url: `${prefix}/${place}?ts=2026-08-01T12:00:00+00:00` })
    t.equal(versioned.headers['cache-control'], 'public, max-age=31536000, immutable')
    const head = await test.app.inject({ method: 'HEAD', url: `${prefix}/${place}` })
    t.match(head, { statusCode: 200, body: '', headers: { 'content-length': '7', etag: reply.headers.etag } })
    const again = await test.app.inject({ url: `${prefix}/${place}`, headers: { 'if-none-match': String(reply.headers.etag) } })
    t.match(again, { statusCode: 304, body: '' })
    const part = await test.app.inject({ url: `${prefix}/${place}`, headers: { range: 'bytes=0-2' } })
    t.match(part, { statusCode: 206, body: 'pic', headers: { 'content-range': 'bytes 0-2/7' } })
  }
})

t.test('every kind of stored media has its own type', async (t) => {
  const test = await fresh(t)
  const types: Record<string, string> = {
    'roms/1/2/screenshots/0.jpg': 'image/jpeg',
    'roms/1/2/manual/2.pdf': 'application/pdf',
    'roms/1/2/manual/2.md': 'text/markdown; charset=utf-8',
    'roms/1/2/video/video.mp4': 'video/mp4',
    'roms/1/2/box3d/box3d.webp': 'image/webp',
    'roms/1/2/retroachievements/badges/7_lock.png': 'image/png',
    'platforms/snes.png': 'image/png',
    'collections/3/cover/small.PNG': 'image/png'
  }
  for (const [path, type] of Object.entries(types)) {
    write(test, path)
    const reply = await test.app.inject({ url: test.app.resources.marked.locate(path) })
    t.match(reply, { statusCode: 200, headers: { 'content-type': type } }, path)
  }
})

t.test('V10: nothing else is served: no user files, scripts, folders or hidden files', async (t) => {
  const test = await fresh(t)
  const paths = ['users/1/avatar.png', 'roms/1/2/cover/x.svg', 'roms/1/2/cover/x.html', 'roms/1/2/cover/.x.png',
    'roms/1/2/other/x.png', 'roms/1/x/cover/x.png', 'tmp/uploads/a/0.png', 'x.png', 'roms/1/2/cover/noextension']
  for (const path of paths) write(test, path, 'secret')
  writeFileSync(join(test.config.data_dir, 'secret.png'), 'secret')
  const cover = dirname(write(test, COVER))
  symlinkSync(join(test.config.data_dir, 'secret.png'), join(cover, 'link.png'))
  mkdirSync(join(cover, 'folder.png'))
  const refused = [...paths, 'roms/1/2/cover/link.png', 'roms/1/2/cover/folder.png', 'roms/1/2/cover', 'roms/1/2/cover/', '',
    '../secret.png', '..%2fsecret.png', '%2e%2e/secret.png', 'roms/1/2/cover/..%2f..%2f..%2f..%2f..%2fsecret.png',
    'roms/1/2/cover/..%5c..%5csecret.png',
    'roms/1/2/cover/gone.png', `roms/1/2/cover/${'x'.repeat(300)}.png`, '/etc/passwd', 'roms/1/2/cover/big.png/x.png']
  for (const path of refused) {
    const [mark] = placeOf(test, decodeURIComponent(path)).split('/')
    for (const place of [path, `${mark}/${path}`]) {
      const reply = await test.app.inject({ url: `/assets/romm/resources/${place}`, headers: test.admin })
      t.ok(reply.statusCode === 404 || reply.statusCode === 400, `${place} ${reply.statusCode}`)
      t.notMatch(reply.body, /secret$/)
      t.notMatch(reply.body, test.config.data_dir)
    }
  }
  for (const place of ['roms/1/2/cover/big.png%00', 'roms/1/2/cover/%00.png']) {
    const reply = await test.app.inject({ url: `/assets/romm/resources/${place}`, headers: test.admin })
    t.match(reply.json(), { detail: [{ loc: ['path', '*'], type: 'nul' }] }, place)
  }
  const post = await test.app.inject({ method: 'POST', url: `/assets/romm/resources/${COVER}` })
  t.match(post, { statusCode: 405, headers: { allow: 'GET, HEAD' } })
})

interface Item {
  path_cover_small: string
  path_manual: string
  path_video: string
  merged_screenshots: string[]
  screenshot_path: string | null
}
const ARTWORK = {
  path_cover_small: 'roms/1/1/cover/small.png',
  path_screenshots: ['roms/1/1/screenshots/0.jpg'],
  path_manual: 'roms/1/1/manual/1.pdf',
  media: { video: { url: 'https://example.org/v.mp4', path: 'roms/1/1/video/v.mp4' } }
}
const ALL_FILES = [ARTWORK.path_cover_small, ...ARTWORK.path_screenshots, ARTWORK.path_manual, ARTWORK.media.video.path]

/** Adds a ROM with artwork. Returns its addresses for the administrator, and a function that follows one. */
async function withArtwork (test: TestApp) {
  const id = await addRom(test, { fs_name: 'a.sfc', fields: ARTWORK })
  for (const path of ALL_FILES) write(test, path)
  const rom = (await test.app.inject({ url: `/api/roms/${id}`, headers: test.admin })).json<Item>()
  const below = (place: string) => `/assets/romm/resources/${place}`
  const addresses = [rom.path_cover_small, ...rom.merged_screenshots, below(rom.path_manual), below(rom.path_video)]
  const follow = async (url: string, headers: Record<string, string> = {}) =>
    (await test.app.inject({ url, headers })).statusCode
  return { id, rom, addresses, follow, below }
}

t.test("a ROM's addresses open its artwork without a credential", async (t) => {
  const test = await fresh(t)
  const { rom, addresses, follow } = await withArtwork(test)
  for (const address of addresses) t.equal(await follow(address), 200, address)
  const again = (await test.app.inject({ url: '/api/roms', headers: test.admin })).json<{ items: Item[] }>()
  t.equal(again.items[0]?.path_cover_small, rom.path_cover_small, 'the same each time, so that it can be cached')
  t.match(rom.path_manual, /\/roms\/1\/1\/manual\/1\.pdf$/, 'an app sees what kind of manual it is')
})

t.test('without its mark artwork needs a credential that may see the ROM', async (t) => {
  const test = await fresh(t)
  const { id, rom, follow, below } = await withArtwork(test)
  const [cover, ...others] = ALL_FILES.map(below)
  const [alice, bob] = [await test.createUser('alice'), await test.createUser('bob')]
  const rules = async (path: string, payload: object) =>
    await test.app.inject({ method: path.startsWith('users') ? 'PUT' : 'POST', url: `/api/permissions/${path}`, headers: test.admin, payload })
  const me = (await test.app.inject({ url: '/api/users/me', headers: alice })).json<{ id: number }>()
  await rules('hidden', { entity: 'roms', entity_id: id, user_id: me.id })
  const [, mark = '', path = ''] = /resources\/([^/]+)\/(roms\/.*)\?/.exec(rom.path_cover_small) ?? []
  for (const url of [cover ?? '', ...others, below(`${mark}/${ARTWORK.path_manual}`), below(`${mark.slice(1)}x/${path}`), below('roms/1/99/cover/big.png')]) {
    t.equal(await follow(url), 401, `${url} without a credential`)
    t.equal(await follow(url, alice), 404, `${url} hidden from her`)
  }
  const shown = await test.app.inject({ url: cover ?? '', headers: bob })
  t.match(shown, { statusCode: 200, headers: { 'cache-control': 'private, no-cache', 'cross-origin-resource-policy': 'same-origin' } })
  t.equal(await follow(cover ?? '', test.admin), 200)
  const token = (await test.app.inject({
    method: 'POST', url: '/api/client-tokens', headers: bob, payload: { name: 'saves', scopes: ['assets.read'] }
  })).json<{ raw_token: string }>()
  t.equal(await follow(cover ?? '', { authorization: `Bearer ${token.raw_token}` }), 403, 'a token that may not read ROMs')
  await test.app.pg.query('update roms set min_age = 18')
  await rules(`users/${(await test.app.inject({ url: '/api/users/me', headers: bob })).json<{ id: number }>().id}`,
    { age_limit: 12, set_age_settings: true })
  t.equal(await follow(cover ?? '', bob), 404, 'too young')
})

t.test('scan events to all sockets contain no mark', async (t) => {
  const test = await fresh(t)
  const { id } = await withArtwork(test)
  const [told] = await test.app.roms.views([id], null)
  t.match(told, {
    path_cover_small: /^\/assets\/romm\/resources\/roms\/1\/1\/cover\/small\.png\?ts=/, path_manual: ARTWORK.path_manual
  })
})

t.test('artwork can be made public, and former addresses still work', async (t) => {
  const marked = (await fresh(t)).app.resources.marked.toPath(ARTWORK.path_manual)
  const test = await buildTestApp(t, { env: { SVC_RESOURCES_PUBLIC: 'true' } })
  const { rom, follow, below } = await withArtwork(test)
  t.match(rom, { path_manual: ARTWORK.path_manual, path_cover_small: /resources\/roms\// })
  for (const path of ALL_FILES) t.equal(await follow(below(path)), 200, path)
  t.not(marked, ARTWORK.path_manual)
  t.equal(await follow(below(marked)), 200)
})

t.test("played ROMs show the newest save's picture, else title screen, else screenshot", async (t) => {
  const test = await fresh(t)
  const { id, rom } = await withArtwork(test)
  const { rows: [admin] } = await test.app.pg.query<{ id: number }>('select id from users')
  const put = async (kind: string, name: string, minute: number) => (await test.app.pg.query<{ id: number }>(
    `insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path, updated_at)
      values ($1, $2, $3, 'snes', 'a.sfc', $4, '', $4, now() + $5 * interval '1 minute') returning id`,
    [kind, admin?.id, id, name, minute])).rows[0]?.id
  const shown = async (query = '?last_played=true') => (await test.app.inject({ url: `/api/roms${query}`, headers: test.admin }))
    .json<{ items: Item[] }>().items[0]?.screenshot_path
  await test.app.inject({ method: 'PUT', url: `/api/roms/${id}/props?update_last_played=true`, headers: test.admin, payload: {} })
  t.equal(await shown(), rom.merged_screenshots[0])
  t.equal(await shown(''), null, 'in these lists alone')
  await put('screenshot', 'Another.png', 9)
  t.equal(await shown(), rom.merged_screenshots[0], 'a picture of no save is none of these')
  await test.app.pg.query('update roms set media = $1', [{ title_screen: { url: 'x', path: 'roms/1/1/title_screen/t.png' } }])
  write(test, 'roms/1/1/title_screen/t.png')
  const title = await shown() ?? ''
  t.match(title, /title_screen\/t\.png\?ts=/)
  t.equal((await test.app.inject({ url: title })).statusCode, 200)
  await put('save', 'a.srm', 1)
  const picture = await put('screenshot', 'a.png', 2)
  t.match(await shown(), new RegExp(`^/api/screenshots/${picture}/content\\?timestamp=2`))
  await put('save', 'newer.srm', 5)
  const newest = await put('screenshot', 'newer.png', 1)
  t.match(await shown(), `/api/screenshots/${newest}/content`)
})

t.test('ranges follow RFC 9110', async () => {
  fc.assert(fc.property(fc.nat(50), fc.option(fc.nat(60)), fc.option(fc.nat(60)), (size, first, last) => {
    fc.pre(first !== null || last !== null)
    const bytes = Array.from({ length: size }, (_, i) => i)
    const wanted = first === null
      ? bytes.slice(Math.max(0, size - (last ?? 0)))
      : bytes.filter((byte) => byte >= first && (last === null || byte <= last))
    const range = parseByteRange(`bytes=${first ?? ''}-${last ?? ''}`, size)
    if (first !== null && last !== null && last < first) return range === null
    if (range === null) return false
    return wanted.length === 0
      ? range === 'unsatisfiable'
      : range !== 'unsatisfiable' && range.start === wanted[0] && range.end === wanted.at(-1)
  }))
  fc.assert(fc.property(fc.string(), fc.nat(), (header, size) => {
    const range = parseByteRange(header, size)
    return range === null || range === 'unsatisfiable' || (range.start >= 0 && range.start <= range.end && range.end < size)
  }))
})

t.test('a range is read in a time that grows with its length only', async (t) => {
  const spaces = ' '.repeat(8_000)
  const startedAt = performance.now()
  t.equal(parseByteRange(`bytes=${spaces}-${spaces}x`, 10), null)
  // Minutes with a regular expression that backtracks.
  t.ok(performance.now() - startedAt < 1_000)
  t.same(parseByteRange(`bytes = ${spaces}1${spaces}-${spaces}3${spaces}`, 10), { start: 1, end: 3 })
})

t.test('no file name breaks its header', async () => {
  fc.assert(fc.property(fc.string({ unit: character }), (name) => {
    return /^attachment; filename\*=UTF-8''[\x21-\x7e]*; filename="(?:[ !#-[\]-~]|\\")*"$/.test(contentDisposition('attachment', name))
  }))
})
