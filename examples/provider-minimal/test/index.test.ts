import { CredentialsRefusedError } from '@svc/plugin-sdk'
import { createPluginContext, createRom, testProvider } from '@svc/plugin-sdk/testing'
import t from 'tap'
import provider from '../src/index.ts'

const responses = new URL('fixtures/', import.meta.url)
const config = { apiKey: 'not-a-real-key' }

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  config,
  responses,
  known: { rom: { fs_name: 'Chrono Harbor (USA) [!].sfc' }, id: 11, name: 'Chrono Harbor' }
}))

t.test('a sequel does not match the first part', async (t) => {
  const games = [{ id: 12, title: 'Chrono Harbor II' }]
  const ctx = createPluginContext(provider, { t, config, responses: [{ url: '*/games', json: { games } }] })
  const rom = createRom({ fs_name: 'Chrono Harbor III (USA).sfc', platform: { ids: [2] } })
  t.equal(await provider.definition.identify?.(rom, ctx), undefined)
})

t.test('an unknown id is not found', async (t) => {
  const ctx = createPluginContext(provider, { t, config, responses })
  t.equal(await provider.definition.getById?.(404, undefined, ctx), undefined)
  t.equal(ctx.requests.length, 1)
})

t.test('every request carries the key and reports a refused key', async (t) => {
  const ctx = createPluginContext(provider, { t, config, responses: [{ url: '*', status: 403 }] })
  await t.rejects(async () => provider.definition.getById?.(11, undefined, ctx), CredentialsRefusedError)
  t.match(ctx.requests, [{ headers: { authorization: 'Bearer not-a-real-key' } }])
})
