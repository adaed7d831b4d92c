import { PgBoss } from 'pg-boss'
import { pino } from 'pino'
import t from 'tap'
import { buildApp } from '../../../core/app.ts'
import { features } from '../../../plugins/index.ts'
import { buildTestApp } from '../../support.ts'

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
