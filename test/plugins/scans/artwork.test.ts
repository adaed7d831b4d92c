import { access, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import { scriptOf } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { PNG, pictures, startArtwork } from './artwork-support.ts'

const { server, test, put, scan, rom, dataDir } = await startArtwork(t)

const stranger = await startServer(t, (_request, response) => { response.writeHead(200, { 'content-type': 'image/png' }).end(PNG) })
const alpha = scriptOf('alpha')
const resources = join(dataDir, 'resources')
let count = 0

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
