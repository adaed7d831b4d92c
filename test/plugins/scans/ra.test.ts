import { access } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { redirectedPackage, startSource } from './redirected-support.ts'
import { buildScanTest } from './support.ts'

const HASH = '0123456789abcdef0123456789abcdef'
const PNG = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#336699' } }).png().toBuffer()
const picture = (url: string) => ({ url, bytes: PNG, headers: { 'content-type': 'image/png' } })
const server = await startSource(t, 'ra', [
  { url: 'https://media.retroachievements.org/Badge/123457_lock.png', status: 404 },
  picture('https://media.retroachievements.org/*')
])
const { app, admin, createUser, put, scan, rom, sql, finished, problems, dataDir } = await buildScanTest(t, {
  providers: [],
  packages: [redirectedPackage(t, 'ra')],
  config: {
    filesystem: { skip_hash_calculation: true },
    plugins: { ra: { apiKey: 'a-web-api-key', test_url: server.url, progress_cron: '5 4 * * *' } }
  }
})
const ada = await createUser('ada')
const get = async (url: string, headers: object = admin) =>
  (await app.inject({ url, headers: { ...headers } })).json<Record<string, unknown>>()
const stored = (path: string) => access(join(dataDir, 'resources', path)).then(() => true, () => false)

await put({ 'roms/gb/Tide Runner (World).gb': 'game', 'roms/gb/Night Ferry (ra-404).gb': 'unknown' })
await scan({ platform_fs_slugs: ['gb'] })
await sql('update roms set ra_hash = $1 where fs_name = $2', [HASH, 'Tide Runner (World).gb'])
const task = await scan({ platform_fs_slugs: ['gb'], type: 'unmatched', apis: ['ra'] })
const { id } = await rom('gb', 'Tide Runner (World).gb')

t.test('a game is matched by hash and its achievements are shown with stored badges', async (t) => {
  const detail = await get(`/api/roms/${id}`)
  const folder = `roms/${Number(detail.platform_id)}/${id}/retroachievements/badges`
  const address = (name: string) => app.resources.marked.locate(`${folder}/${name}`)
  t.match(detail, {
    ra_id: 5001,
    name: 'Tide Runner',
    is_identified: true,
    metadatum: { genres: ['2D Platforming'], first_release_date: Date.UTC(1992, 3, 27) },
    merged_ra_metadata: {
      achievements: [
        { ra_id: 7001, badge_path: address('123456.png'), badge_path_lock: address('123456_lock.png') },
        { ra_id: 7002, badge_path: address('123457.png'), badge_path_lock: null }
      ]
    }
  })
  t.same(await sql('select badges from roms where id = $1', [id]),
    [{ badges: ['123456.png', '123456_lock.png', '123457.png'] }])
  t.ok(await stored(`${folder}/123456_lock.png`))
  t.match(problems(task).join(), /123457_lock\.png/)
  const answer = await app.inject({ url: address('123457.png') })
  t.match(answer, { statusCode: 200, headers: { 'content-type': 'image/png' } })
  t.match(await rom('gb', 'Night Ferry (ra-404).gb'), { is_identified: false, ids: {} })
})

t.test('stored badges are not fetched again', async (t) => {
  server.requests.length = 0
  await scan({ platform_fs_slugs: ['gb'], type: 'update', apis: ['ra'] })
  t.same(server.requests.filter((request) => request.includes('/Badge/')), ['GET /media.retroachievements.org/Badge/123457_lock.png'])
})

t.test('the key is neither stored, logged nor shown', async (t) => {
  const rows = [await sql('select * from rom_matches'), await sql('select * from plugin_cache'), await sql('select * from tasks')]
  t.notMatch(JSON.stringify(rows), /a-web-api-key/)
  t.notMatch((await app.inject({ url: `/api/roms/${id}`, headers: admin })).body, /a-web-api-key/)
  t.notMatch((await app.inject({ url: '/api/plugins', headers: admin })).body, /a-web-api-key/)
})

t.test('progress of the user and the game has the names that clients know', async (t) => {
  const me = Number((await get('/api/users/me', ada)).id)
  const refresh = async (payload: object) =>
    await app.inject({ method: 'POST', url: `/api/users/${me}/ra/refresh`, headers: ada, payload })
  t.equal((await refresh({})).statusCode, 404, 'without a name there')
  await app.inject({ method: 'PUT', url: `/api/users/${me}`, headers: ada, payload: { ra_username: 'ada' } })
  t.match(await refresh({ incremental: false }), { statusCode: 200, body: 'null' })
  const { ra_progression: progression } = await get('/api/users/me', ada)
  t.match(progression, {
    total: 3,
    results: [{
      rom_ra_id: 5001,
      max_possible: 2,
      num_awarded: 2,
      num_awarded_hardcore: 1,
      most_recent_awarded_date: '2026-08-01T20:00:00+00:00',
      highest_award_kind: 'completed',
      earned_achievements: [
        { id: '123456', date: '2026-07-30 18:00:00', date_hardcore: '2026-07-30 18:00:00' },
        { id: '123457', date: '2026-08-01 20:00:00' }
      ]
    }, { rom_ra_id: 5003 }, { rom_ra_id: 5004 }]
  })
  t.match(await get(`/api/roms/${id}`, ada), { ra_progress: { num_awarded: 2 }, rom_user: { status: null } })
  server.requests.length = 0
  t.equal((await refresh({ incremental: true })).statusCode, 200)
  t.equal(server.requests.length, 1, 'nothing changed, so no game is asked about')
  t.same((await get('/api/users/me', ada)).ra_progression, progression)
})

t.test('a user gets an error for a name that the service refuses', async (t) => {
  const me = Number((await get('/api/users/me')).id)
  await app.inject({ method: 'PUT', url: `/api/users/${me}`, headers: admin, payload: { ra_username: 'x' } })
  const answer = await app.inject({ method: 'POST', url: `/api/users/${me}/ra/refresh`, headers: admin })
  t.match(answer, { statusCode: 404, body: /does not accept the name 'x'/ })
})

t.test('the task marks the games of users, except those they gave up', async (t) => {
  const run = async () => {
    const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/sync_ra_progress', headers: admin })
    return await finished(answer.json<{ task_id: string }>().task_id)
  }
  const status = async () => ((await get(`/api/roms/${id}`, ada)).rom_user as { status: string }).status
  t.match(await run(), { status: 'finished', meta: { update_stats: { processed: 2, total: 2 } } })
  t.equal(await status(), 'completed_100')
  t.match(await get(`/api/roms/${id}`), { rom_user: { status: null } }, 'nobody else is affected')
  await sql("update rom_users set status = 'retired' where rom_id = $1", [id])
  await run()
  t.equal(await status(), 'retired')
  const tasks = await app.inject({ url: '/api/tasks', headers: admin })
  t.match(tasks.body, /"sync_ra_progress".*?"enabled":true.*?"5 4 \* \* \*"/)
})
