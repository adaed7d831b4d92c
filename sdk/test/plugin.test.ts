import t from 'tap'
import { PLATFORMS, Type, defineChannel, defineExporter, defineProvider, platformIds } from '../src/index.ts'

t.test('a plugin is its kind and the definition as it was written', async (t) => {
  const definition = { key: 'demo', name: 'Demo', id: 'integer' as const, identify: async () => undefined }
  t.same(Object.keys(defineProvider(definition)), ['kind', 'definition'])
  t.equal(defineProvider(definition).definition, definition)
  const channel = defineChannel({
    key: 'demo', name: 'Demo', settings: Type.Object({}), deliver: async () => undefined, describe: () => 'demo'
  })
  t.equal(channel.kind, 'channel')
  const exporter = defineExporter({
    key: 'demo', name: 'Demo', fileName: 'demo.txt', media: {}, render: async () => ({ text: '', skipped: [] })
  })
  t.equal(exporter.kind, 'exporter')
})

t.test('a table of platform ids has exactly the platforms that the provider knows', async (t) => {
  const ids = platformIds('igdb_id')
  t.ok(Object.keys(ids).length > 50)
  for (const { slug, igdb_id: id } of PLATFORMS) t.equal(ids[slug] ?? null, id, slug)
})
