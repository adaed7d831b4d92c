import { readdirSync } from 'node:fs'
import type { Provider, ProviderDefinition } from '@svc/plugin-sdk'
import sharp from 'sharp'
import t from 'tap'
import { findCycle } from '../../../core/loader/checks/provider-order.ts'
import { redirectedPackage, startSource } from './redirected-support.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { buildScanTest } from './support.ts'

const SCENE = ['demozoo', 'pouet', 'csdb']
const bytes = await sharp({ create: { width: 64, height: 40, channels: 3, background: '#2050a0' } }).png().toBuffer()
const picture = { bytes, headers: { 'content-type': 'image/png' } }
const servers = {
  demozoo: await startSource(t, 'demozoo', [{ url: 'https://media.demozoo.org/*', ...picture }]),
  pouet: await startSource(t, 'pouet', [{ url: 'https://content.pouet.net/*', ...picture }]),
  csdb: await startSource(t, 'csdb', [{ url: 'https://csdb.dk/gfx/*', ...picture }])
}
const settings = Object.entries(servers).map(([key, { url }]) => [key, { enabled: true, test_url: url }])
const { app, admin, put, scan, rom } = await buildScanTest(t, {
  providers: ['alpha'],
  packages: SCENE.map((key) => redirectedPackage(t, key)),
  config: { filesystem: { skip_hash_calculation: true }, plugins: Object.fromEntries(settings) }
})
const alpha = scriptOf('alpha')
const PAGES = ['https://demozoo.org/productions/900001/', 'https://www.pouet.net/prod.php?which=900101',
  'https://csdb.dk/release/?id=900201']

const get = async (url: string) => (await app.inject({ url, headers: admin })).json()

/** Returns the requests to a provider, without pictures. */
const asked = (key: keyof typeof servers) =>
  servers[key].requests.map((request) => /\/\S+/.exec(request)?.[0] ?? request).filter((url) => !/screens|gfx/.test(url))

t.beforeEach(() => {
  resetScripts()
  for (const { requests } of Object.values(servers)) requests.length = 0
  alpha.identify = () => ({
    id: 1, name: 'A game of that name', summary: 'Alpha says', genres: ['A'], media: [{ kind: 'cover', url: 'http://127.0.0.1:1/a.png' }]
  })
})

t.test('Pouët and CSDb follow the ids of Demozoo, and all matches form one summary', async (t) => {
  const name = 'Copper Tides (1993)(Lantern).d64'
  await put({ [`roms/c64/${name}`]: 'x' })
  const task = await scan({ platform_fs_slugs: ['c64'] })
  t.match(task, { status: 'finished', meta: { problems: [], scan_stats: { identified_roms: 1, failed_lookups: 0 } } })
  t.match(asked('demozoo'), [/title=Copper(?:\+|%20)Tides&platform=3$/, /productions\/900001\/$/])
  t.match(asked('pouet'), [/api\.pouet\.net\/v1\/prod\/\?id=900101$/])
  t.match(asked('csdb'), [/webservice\/\?type=release&id=900201&depth=2$/])
  t.same([asked('demozoo').length, asked('pouet').length, asked('csdb').length], [2, 1, 1])

  const { id, path_cover_large: cover } = await rom('c64', name)
  t.match(await get(`/api/roms/${id}`), {
    name: 'Copper Tides',
    demozoo_id: 900001,
    pouet_id: 900101,
    csdb_id: 900201,
    demozoo_metadata: { party_line: 'Harbor Party 1993 / C64 Demo #1', groups: ['Lantern'] },
    pouet_metadata: { vote_avg: 0.854, pouet_rank: 512 },
    csdb_metadata: { party_line: 'Harbor Party 1993 / C64 Demo #2', rating: 9.25 },
    url_cover: 'https://media.demozoo.org/screens/s/a.jpg'
  })
  t.type(cover, 'string', 'the cover is stored')
  const { summary } = await rom('c64', name)
  t.match(summary, /^Demo by Lantern \(1993\) · .* · has a hidden part · Pouët 0\.854 · #512 · CdC 4 · https:\/\/www\.youtube/)
  for (const page of PAGES) t.equal(summary?.split(page).length, 2, `${page} stands there once`)
})

t.test('a production without links is matched by Demozoo and Pouët', async (t) => {
  await put({ 'roms/c64/Lone Buoy.d64': 'b' })
  const task = await scan({ platform_fs_slugs: ['c64'] })
  t.match(task.meta, { problems: [{ reason: /127\.0\.0\.1:1/ }], scan_stats: { failed_lookups: 0 } }, 'the cover of Alpha alone fails')
  t.match(await rom('c64', 'Lone Buoy.d64'), { name: 'Lone Buoy', ids: { demozoo: '900003', pouet: '900103' } })
})

t.test('a file that is no production gets one search of each provider', async (t) => {
  await put({ 'roms/c64/Harbor Master.d64': 'y' })
  await scan({ platform_fs_slugs: ['c64'] })
  t.match(await rom('c64', 'Harbor Master.d64'), { name: 'A game of that name', ids: { alpha: '1' } })
  t.same([asked('demozoo').length, asked('pouet').length, asked('csdb').length], [1, 1, 0])
})

t.test('an id of CSDb at Pouët is followed if Demozoo is not selected', async (t) => {
  await put({ 'roms/c64/Something (pouet-900101).d64': 'z' })
  await scan({ platform_fs_slugs: ['c64'], apis: ['pouet', 'csdb'] })
  t.match(await rom('c64', 'Something (pouet-900101).d64'), {
    name: 'Copper Tides', ids: { pouet: '900101', csdb: '900201' }, summary: /^Demo, 4K Intro by Lantern .* · https:\/\/csdb\.dk\/release\/\?id=900201$/
  })
  t.same(asked('demozoo'), [])
})

t.test('Demozoo alone finds productions under every id of a platform', async (t) => {
  const name = 'Copper Tides (Lantern).d64'
  await put({ [`roms/amiga/${name}`]: 'x' })
  const task = await scan({ platform_fs_slugs: ['amiga'], apis: ['demozoo'] })
  t.equal(task.meta.scan_stats.identified_roms, 1)
  t.match(await rom('amiga', name), { name: 'Copper Tides', ids: { demozoo: '900001' }, summary: /csdb\.dk\/release\/\?id=900201$/ })
  t.match(asked('demozoo')[0], /title=Copper(?:\+|%20)Tides&platform=5&platform=6&platform=26$/)
  t.same([...asked('pouet'), ...asked('csdb')], [])
})

t.test('the built-in providers have no circular dependency', async (t) => {
  const folder = new URL('../../../providers/', import.meta.url)
  const entries = readdirSync(folder, { withFileTypes: true })
  const keys = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const definitions: ProviderDefinition[] = await Promise.all(keys.map(async (key) => {
    const { default: provider } = await import(new URL(`${key}/src/index.ts`, folder).href) as { default: Provider }
    return provider.definition
  }))
  t.ok(SCENE.every((key) => definitions.some((definition) => definition.key === key)))
  for (const definition of definitions) {
    t.equal(findCycle(definitions.filter((other) => other !== definition), definition), null, definition.key)
  }
  const plugins: { key: string, status: string }[] = await get('/api/plugins')
  t.same(plugins.filter(({ key }) => SCENE.includes(key)).map(({ status }) => status), ['active', 'active', 'active'])
})
