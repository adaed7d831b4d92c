import t from 'tap'
import { createHost } from '../../../plugins/channels/host/channel-host.ts'
import { loadConfig } from '../../load-config.ts'

t.test('a channel without an active plugin says whether the plugin is installed', async (t) => {
  const { config } = loadConfig({ SVC_DATA_DIR: t.testdir({}), SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  const records = [{ kind: 'channel', key: 'off' }, { kind: 'provider', key: 'gone' }]
  const host = createHost({ registry: { channels: new Map(), records }, addHook () {} } as never, config)
  const inspect = async (type: string) => await host.inspect({ type } as never, AbortSignal.timeout(1_000))
  t.match(await inspect('off'), { ok: false, failure: { message: /'off' is not active; .* svc plugins shows the reason$/ } })
  t.match(await inspect('gone'), {
    ok: false, failure: { message: /'gone' is not installed; ask an administrator to run svc plugins add .* or delete the channel$/ }
  })
})
