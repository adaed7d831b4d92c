import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { buildTestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from '../roms/support.ts'
import { get } from './feeds-support.ts'

const fresh = shareTestApp(t)

t.test('a feed of several pages is complete', async (t) => {
  const test = await fresh(t)
  const { platform } = await test.app.platforms.ensure(test.app.db, 'ps3')
  await test.app.pg.query(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, name_sort_key)
    select $1, 'Game ' || n, 'roms/ps3', 'Game ' || n, 'Game ' || n, 'game ' || n % 7 from generate_series(1, 2000) n`, [platform.id])
  await test.app.pg.query(`insert into rom_files (rom_id, file_name, file_path, last_modified)
    select r.id, 'Part ' || n || '.pkg', 'roms/ps3/' || r.fs_name, now() from roms r, generate_series(1, 2) n
    union all select min(r.id), 'More ' || n || '.pkg', 'roms/ps3/x', now() from roms r, generate_series(1, 5500) n group by n`)
  const lines = (await get(test, '/api/feeds/pkgi/ps3/game')).body.split('\n')
  t.equal(lines.length, 9_500)
  t.equal(new Set(lines).size, 9_500)
  t.equal((await get(test, '/api/feeds/kekatsu/ps3')).body.split('\n').length, 2_002)
})

/** Starts a stand-in for the internet. The path of a request begins with the meant host. */
async function startGateway (t: Pick<Test, 'teardown'>, answer: () => string) {
  const asked: string[] = []
  const server = createServer((request, reply) => {
    asked.push(request.url ?? '')
    reply.setHeader('content-type', 'application/json')
    reply.end(answer())
  }).listen(0, '127.0.0.1')
  await until(() => server.listening, 'the gateway listens')
  t.teardown(() => { server.close() })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

t.test('the titles task gives Tinfoil its titles, and a broken table changes nothing', async (t) => {
  const records: Record<string, object> = {
    70010000000001: {
      nsuId: 70010000000001, id: '0100a00000000001', name: 'Harbor \u6e2f', description: 'A "port"', region: 'JP', publisher: 'Quay',
      releaseDate: 20200131, size: 5_000_000_000, version: '65536', rating: 7, rank: 3
    },
    70010000000002: { nsuId: 70010000000002, id: '0100B00000000002', name: null, region: 'XX', releaseDate: 19000101, version: null },
    none: { nsuId: null, id: '0100C00000000003', name: 'Without' }
  }
  let text = JSON.stringify(records)
  const gateway = await startGateway(t, () => text)
  const test = await buildTestApp(t, {
    worker: true, packages: [], env: { SVC_SOURCES_GATEWAY: gateway.url, ENABLE_SCHEDULED_UPDATE_SWITCH_TITLEDB: 'true' }
  })
  for (const name of ['Harbor [0100A00000000001][v0].nsp', 'Harbor update 0100a00000000001.nsp', 'Both 70010000000002 0100A00000000001.xci',
    'Unknown 70019999999999.nsp', 'Without 0100C00000000003.nsp']) await addRom(test, { fs_name: name, platform: 'switch' })
  const { app, admin } = test
  const run = async () => {
    const { task_id: id } = (await app.inject({
      method: 'POST', url: '/api/tasks/run/update_switch_titledb', headers: admin, payload: { force: true }
    })).json<{ task_id: string }>()
    return await until(async () => {
      const task = (await app.inject({ url: `/api/tasks/${id}`, headers: admin })).json<{ status: string }>()
      return ['finished', 'failed'].includes(task.status) ? task : null
    }, 'the task ends')
  }
  const titles = async () => (await get(test, '/api/feeds/tinfoil')).json<{ titledb: object }>().titledb
  t.same(await titles(), {}, 'nothing is known before')
  t.match(await run(), { status: 'finished', meta: { update_stats: { processed: 4, total: 4 } } })
  t.match(gateway.asked, [/^\/raw\.githubusercontent\.com\/.*US\.en\.json$/])
  const known = {
    70010000000001: {
      id: '0100a00000000001', name: 'Harbor \u6e2f', description: 'A "port"', region: 'JP', publisher: 'Quay', releaseDate: 20200131,
      size: 5_000_000_000, version: 65536, rating: 7, rank: 3
    },
    70010000000002: {
      id: '0100B00000000002', name: '', description: '', region: 'US', publisher: '', releaseDate: 19700101, size: 0, version: 0,
      rating: 0, rank: 0
    }
  }
  t.same(await titles(), known)
  for (const broken of ['{"7001', '{}', 'no JSON']) {
    text = broken
    t.match(await run(), { status: 'failed' }, broken)
    t.same(await titles(), known, broken)
  }
  t.match((await app.inject('/api/heartbeat')).json(), {
    TASKS: { ENABLE_SCHEDULED_UPDATE_SWITCH_TITLEDB: true, SCHEDULED_UPDATE_SWITCH_TITLEDB_CRON: '0 4 * * *' }
  })
})
