import t from 'tap'
import { PLATFORMS, Type, defineChannel, defineExporter, defineProvider, platformIds } from '../src/index.ts'
import { createContext } from '../src/testing/index.ts'

t.test('a definition becomes a plugin of its kind that the host can register', async (t) => {
  const steps: string[] = []
  const provider = defineProvider({
    key: 'demo',
    name: 'Demo',
    id: 'integer',
    setup: async ({ config }) => { steps.push(`setup ${JSON.stringify(config)}`) },
    close: async () => { steps.push('close') },
    identify: async () => undefined
  })
  const closing: (() => Promise<void>)[] = []
  await provider({ addHook: (_name, hook) => closing.push(hook) }, {
    context: createContext({ config: { a: 1 } }),
    accept: (kind, definition) => { steps.push(`accept ${kind} ${definition === provider.definition}`) }
  })
  for (const close of closing) await close()
  t.same(steps, ['setup {"a":1}', 'accept provider true', 'close'])
})

t.test('a plugin whose setup throws is not accepted', async (t) => {
  const exporter = defineExporter({
    key: 'demo',
    name: 'Demo',
    fileName: 'demo.txt',
    media: {},
    setup: async () => { throw new Error('no index') },
    render: async () => ({ text: '', skipped: [] })
  })
  await t.rejects(exporter({ addHook: () => undefined }, {
    context: createContext(),
    accept: () => { t.fail('accepted') }
  }), /no index/)
})

t.test('a plugin knows its kind', async (t) => {
  const channel = defineChannel({
    key: 'demo', name: 'Demo', settings: Type.Object({}), deliver: async () => undefined, describe: () => 'demo'
  })
  t.equal(channel.kind, 'channel')
  t.equal(channel.definition.name, 'Demo')
})

t.test('a table of platform ids has exactly the platforms that the provider knows', async (t) => {
  const ids = platformIds('igdb_id')
  t.ok(Object.keys(ids).length > 50)
  for (const { slug, igdb_id: id } of PLATFORMS) t.equal(ids[slug] ?? null, id, slug)
})
