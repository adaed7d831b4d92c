import { PgBoss } from 'pg-boss'
import { pino } from 'pino'
import t from 'tap'
import { buildApp } from '../../../core/app.ts'
import { features } from '../../../plugins/index.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from '../roms/support.ts'
import { connectPeer, roomData } from './support.ts'

t.test('a scan worker removes schedules of former releases, which would end its rest', async (t) => {
  const { app: web, config, databaseUrl } = await buildTestApp(t, { worker: true, packages: [] })
  const boss = new PgBoss({ connectionString: databaseUrl, max: 1, schedule: false, supervise: false })
  await boss.start()
  await boss.createQueue('netplay_cleanup')
  await boss.schedule('netplay_cleanup', '*/30 * * * *')
  await boss.schedule('streaming_reap', '* * * * *')
  await boss.stop()
  const logger = pino({ level: 'silent' })
  const worker = await buildApp({ config, role: 'worker', databaseUrl, logger, features, packages: [] })
  t.teardown(() => worker.close())
  await worker.ready()
  const former = ['netplay_cleanup', 'streaming_reap']
  t.equal((await web.pg.query('select 1 from pgboss.schedule where name = any($1)', [former])).rowCount, 0)
})

t.test('a player whose socket closes while the database fails is removed later', async (t) => {
  const lines: Record<string, unknown>[] = []
  const test = await buildTestApp(t, { packages: [], log: (line) => { lines.push(line) } })
  const { app, admin } = test
  const game = await addRom(test, { fs_name: 'Kart.sfc' })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const login = await app.inject({ method: 'POST', url: '/api/login', headers: { authorization: admin.authorization } })
  const cookie = login.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const [owner, guest] = [await connectPeer(t, url, cookie), await connectPeer(t, url, cookie)]
  await owner.ask('open-room', roomData('room', 'a', game))
  await guest.ask('join-room', roomData('room', 'b', game))
  const told = () => Object.keys(owner.heard('users-updated').at(-1) ?? {}).join()
  await until(() => told() === 'a,b', 'both are in the room')
  await app.pg.query('alter table netplay_players rename to netplay_players_away')
  guest.socket.disconnect()
  await until(() => lines.some(({ msg }) => msg === 'a netplay event failed'), 'the player could not leave')
  await app.pg.query('alter table netplay_players_away rename to netplay_players')
  await until(() => told() === 'a', 'the owner is alone')
  const players = (await app.pg.query('select player_id from netplay_players')).rows
  t.same(players, [{ player_id: 'a' }])
})
