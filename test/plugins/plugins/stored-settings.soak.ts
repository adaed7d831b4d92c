import pg from 'pg'
import t from 'tap'
import { createSecrets } from '../../../core/access/secrets.ts'
import { changeStoredValues } from '../../../core/loader/settings/stored-settings.ts'
import { inspectPlugins } from '../../../plugins/plugins/cli.ts'
import { loadConfig } from '../../load-config.ts'
import { createTestDatabase } from '../../support.ts'

const KEY = 'a key for tests only'

t.test('commands inspect plugins with the settings that administrators stored', async (t) => {
  const url = await createTestDatabase(t)
  const settings = { SVC_DATA_DIR: t.testdir({}), SVC_AUTH_SECRET_KEY: KEY, SVC_DATABASE_URL: url }
  const { config } = loadConfig(settings)
  const inspect = async (ignoresStored = false) =>
    (await inspectPlugins(config, { settings, ignoresStored })).find(({ kind, key }) => kind === 'provider' && key === 'moby')
  t.match(await inspect(), { status: 'disabled', reason: /^set MOBYGAMES_API_KEY/ })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await changeStoredValues(client, createSecrets(KEY), 'provider/moby', () => ({ apiKey: 'a-key' }))
  t.match(await inspect(), { status: 'active', reason: null })
  t.match(await inspect(true), { status: 'disabled' })
})
