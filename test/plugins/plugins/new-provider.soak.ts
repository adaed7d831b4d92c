import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { linkSdk, listPluginPackages } from '../../../core/loader/packages/packages.ts'
import { buildScanTest } from '../scans/support.ts'

/** Returns a package as its author writes it. */
function packageOf (key: string) {
  return {
    'package.json': JSON.stringify({
      name: `svc-provider-${key}`, version: '1.0.0', type: 'module', exports: './index.js', svc: { kind: 'provider', key, sdk: '^2' }
    }),
    'index.js': `
      import { Type, defineProvider } from '@svc/plugin-sdk'
      export default defineProvider({
        key: '${key}', name: 'The ${key}', id: 'integer',
        metadata: Type.Object({ shelf: Type.String() }),
        platforms: { snes: 19 },
        scanOptions: Type.Object({ ${key}_thorough: Type.Boolean({ default: false }) }),
        async identify (rom, { options }) {
          return { id: 40, name: 'By ${key}', genres: ['Puzzle'], metadata: { shelf: String(options.${key}_thorough) } }
        }
      })`
  }
}

const dataDir = await mkdtemp(join(tmpdir(), 'svc-new-'))
t.teardown(() => rm(dataDir, { recursive: true, force: true }))
const plugins = join(dataDir, 'plugins')

async function write (folder: string, files: Record<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}
await write(join(plugins, 'node_modules', 'svc-provider-guest'), packageOf('guest'))
await write(plugins, { 'package.json': JSON.stringify({ dependencies: { 'svc-provider-guest': '*' } }) })
// The stand-in for the server's folder is placed where it finds the SDK.
await write(join(plugins, 'providers', 'house'), packageOf('house'))
linkSdk(dataDir)
const { app, admin, put, scan, rom } = await buildScanTest(t, {
  providers: [],
  packages: listPluginPackages(dataDir, plugins),
  config: { filesystem: { skip_hash_calculation: true } }
})
const get = async (url: string) => (await app.inject({ url, headers: admin })).json()

for (const [key, origin] of [['house', 'built-in'], ['guest', 'community']] as const) {
  t.test(`a new ${origin} provider needs only its folder to work everywhere`, async (t) => {
    await put({ [`roms/snes/${key}.sfc`]: key })
    await scan({ platform_fs_slugs: ['snes'], apis: [key], [`${key}_thorough`]: true })
    const { id } = await rom('snes', `${key}.sfc`)
    t.match(await get(`/api/roms/${id}`), {
      name: `By ${key}`, is_identified: true, [`${key}_id`]: 40, [`${key}_metadata`]: { shelf: 'true' }, metadatum: { genres: ['Puzzle'] }
    })
    t.match((await get('/api/plugins')).find((plugin: { key: string }) => plugin.key === key), { origin, status: 'active' })
    t.match(await get('/api/heartbeat'), { METADATA_SOURCES: { [`${key.toUpperCase()}_API_ENABLED`]: true, ANY_SOURCE_ENABLED: true } })
    t.match((await get('/api/platforms')).find((platform: { slug: string }) => platform.slug === 'snes'), { [`${key}_id`]: 19 })
    t.same((await get(`/api/roms?metadata_providers=${key}&order_by=${key}_id`)).items.map((item: { id: number }) => item.id), [id])
    t.equal((await get(`/api/roms/by-metadata-provider?${key}_id=40`)).id, id)
    const { components, paths } = await get('/openapi.json')
    t.match(components.schemas.SimpleRom.properties, { [`${key}_id`]: {}, [`${key}_metadata`]: {} })
    t.same(paths['/api/tasks/scan'].post.requestBody.content['application/json'].schema, { $ref: '#/components/schemas/ScanPayload' })
    const { properties } = components.schemas.ScanPayload
    t.ok(properties.apis.items.enum.includes(key))
    t.match(properties, { [`${key}_thorough`]: { type: 'boolean', description: /Default: false/ } })
  })
}
