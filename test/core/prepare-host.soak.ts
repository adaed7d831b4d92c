import { pino } from 'pino'
import t from 'tap'
import { prepareHost } from '../../core/server.ts'
import { features } from '../../plugins/index.ts'
import { loadConfig } from '../load-config.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'

/** The lock that a migration holds. */
const MIGRATION_LOCK = 7_364_120

t.test('a start says that it waits for the migration of another host', async (t) => {
  const databaseUrl = await createTestDatabase(t)
  const { config } = loadConfig({ SVC_DATA_DIR: t.testdir({}), SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  const lines: string[] = []
  const log = pino({}, { write (line: string) { lines.push(line) } })
  const { prepared } = await withConnection(databaseUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const prepared = prepareHost(features, { config, databaseUrl, log })
    await until(() => /waits until this host or another one has migrated the database/.test(lines.join('')), 'the reason')
    return { prepared }
  })
  t.equal(await prepared, config, 'the settings did not change')
})
