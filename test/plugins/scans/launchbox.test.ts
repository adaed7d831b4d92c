import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { buildScanTest } from './support.ts'

const PLATFORM = 'Super Nintendo Entertainment System'
const installation = await mkdtemp(join(tmpdir(), 'svc-launchbox-'))
t.teardown(() => rm(installation, { recursive: true, force: true }))

async function put (path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(installation, path)), { recursive: true })
  await writeFile(join(installation, path), content)
}
await put(`Data/Platforms/${PLATFORM}.xml`, `<LaunchBox><Game>
  <Title>Chrono Harbor: Second Tide</Title><ApplicationPath>Games\\Chrono Harbor - Second Tide.sfc</ApplicationPath>
  <DatabaseID>40217</DatabaseID><Rating>T - Teen</Rating><CommunityStarRating>4.5</CommunityStarRating>
</Game><Game><Title>Own Game</Title><ApplicationPath>own.sfc</ApplicationPath></Game></LaunchBox>`)
const picture = sharp({ create: { width: 60, height: 80, channels: 3, background: '#2050a0' } })
await put(`Images/${PLATFORM}/Box - Front/Europe/Chrono Harbor_ Second Tide-01.png`, await picture.png().toBuffer())

const test = await buildScanTest(t, {
  providers: [],
  builtIns: ['launchbox'],
  config: { filesystem: { skip_hash_calculation: true }, plugins: { launchbox: { installation } } }
})
const { app, admin, dataDir, scan, rom } = test
const get = async (url: string) => (await app.inject({ url, headers: admin })).json()

t.test('a scan takes games, ids and covers from a LaunchBox folder', async (t) => {
  await test.put({ 'roms/snes/Chrono Harbor - Second Tide.sfc': 'x', 'roms/snes/own.sfc': 'y', 'roms/snes/else.sfc': 'z' })
  const task = await scan({ platform_fs_slugs: ['snes'], launchbox_remote_enabled: false })
  t.match(task, { status: 'finished', meta: { scan_stats: { identified_roms: 2, failed_lookups: 0 } } })
  const stored = await rom('snes', 'Chrono Harbor - Second Tide.sfc')
  await access(join(dataDir, 'resources', stored.path_cover_large ?? 'none'))
  t.match(await get(`/api/roms/${stored.id}`), {
    name: 'Chrono Harbor: Second Tide',
    launchbox_id: 40217,
    launchbox_metadata: { esrb: 'T', community_rating: 4.5, images: [{ type: 'Box - Front', region: 'Europe' }] },
    metadatum: { age_ratings: ['T'], average_rating: 90 }
  })
  const own = await get(`/api/roms/${(await rom('snes', 'own.sfc')).id}`)
  t.match(own, { name: 'Own Game', is_identified: true })
  t.ok(own.launchbox_id < 0)
})

t.test('lists sort by a number of a provider, ROMs without the number last', async (t) => {
  const names = async (order: string) => (await get(`/api/roms?${order}`)).items.map((item: { name: string }) => item.name)
  t.same(await names('order_by=launchbox_metadata.community_rating'), ['Own Game', 'Chrono Harbor: Second Tide', 'else'])
  t.same(await names('order_by=launchbox_metadata.community_rating&order_dir=desc'),
    ['Chrono Harbor: Second Tide', 'Own Game', 'else'])
  for (const field of ['launchbox_metadata.esrb', 'launchbox_metadata.constructor', 'nobody_metadata.x', 'igdb_metadata.x']) {
    t.same(await names(`order_by=${field}`), ['Chrono Harbor: Second Tide', 'else', 'Own Game'], `${field} means by name`)
  }
})

t.test('the server lists the LaunchBox folder, its task and its schedule', async (t) => {
  t.match((await get('/api/plugins')).find(({ key }: { key: string }) => key === 'launchbox'), { status: 'active' })
  t.match(await get('/api/heartbeat'), {
    METADATA_SOURCES: { LAUNCHBOX_API_ENABLED: true },
    TASKS: { ENABLE_SCHEDULED_UPDATE_LAUNCHBOX_METADATA: false, SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON: '0 4 * * *' }
  })
  t.equal(await get('/api/heartbeat/metadata/launchbox'), true)
  const { task_id: id } = (await app.inject({
    method: 'POST', url: '/api/tasks/run/update_launchbox_metadata', headers: admin
  })).json<{ task_id: string }>()
  await test.finished(id)
  t.equal(await test.error(id), null, 'an index that is off is left as it is')
})
