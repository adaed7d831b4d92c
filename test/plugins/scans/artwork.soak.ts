import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import type { PluginPackage } from '../../../core/loader/packages/packages.ts'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { buildScanTest } from './support.ts'
import { PNG, pictures, startArtwork } from './artwork-support.ts'

const { server, put, scan, rom } = await startArtwork(t)

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
