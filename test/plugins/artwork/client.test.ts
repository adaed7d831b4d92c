import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { AddressRefusedError } from '../../../core/http/addresses.ts'
import { createArtworkClient } from '../../../plugins/artwork/client.ts'
import { createLog, startServer } from '../../core/http/server.ts'
import { loadConfig } from '../../load-config.ts'

t.test('artwork is fetched from an address that a provider gets later', async (t) => {
  const server = await startServer(t, (_request, response) => { response.end('picture') })
  const providers = new Map<string, unknown>()
  const listeners: unknown[] = []
  const app = { registry: { providers, onReload: (listener: unknown) => listeners.push(listener) } }
  const { config } = loadConfig({ SVC_DATA_DIR: t.testdir({}), SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  const client = createArtworkClient(app as unknown as FastifyInstance, config, createLog().log)
  t.teardown(() => client.close())
  await t.rejects(client.text(server.url), AddressRefusedError)
  providers.set('own', { trust: { origins: [server.host] } })
  t.equal(await client.text(server.url), 'picture')
  t.strictSame(listeners, [])
})
