import t from 'tap'
import { buildTestApp } from '../../support.ts'

t.test('every half hour a worker drops rooms without players', async (t) => {
  const working = await buildTestApp(t, { worker: true, packages: [] })
  const { app: web } = working
  t.match((await web.pg.query("select cron from pgboss.schedule where name = 'netplay_cleanup'")).rows, [{ cron: '*/30 * * * *' }])
  await web.pg.query("insert into netplay_rooms (id, name, game_id, max_players) values ('empty', 'Empty', '1', 4)")
  await web.jobs.request('netplay_cleanup', {}, 20_000)
  t.equal((await web.pg.query('select 1 from netplay_rooms')).rowCount, 0)
})
