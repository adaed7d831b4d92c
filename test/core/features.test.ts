import t from 'tap'
import { type Feature, defineFeature } from '../../core/feature.ts'
import { composeFeatures, sortByNeeds } from '../../core/features.ts'
import { featureList, features } from '../../plugins/index.ts'

const feature = (name: string, ...needs: string[]): Feature => defineFeature({ name, needs })
const namesOf = (list: readonly Feature[]) => sortByNeeds(list).map(({ name }) => name)

t.test('a feature is set up after all that it needs, else in the order of the list', async (t) => {
  t.same(namesOf([feature('a', 'c', 'database'), feature('b'), feature('c', 'd'), feature('d')]), ['d', 'c', 'a', 'b'])
  const names = namesOf(featureList.features)
  for (const { name, needs = [] } of featureList.features) {
    for (const need of needs) t.ok(names.indexOf(need) < names.indexOf(name), `${need} before ${name}`)
  }
})

t.test('a need that does not exist is an error', async (t) => {
  t.throws(() => sortByNeeds([feature('a', 'b')]), { message: "The feature 'a' needs 'b', which is neither a feature nor a part of core" })
})

t.test('features that need each other are an error', async (t) => {
  t.throws(() => sortByNeeds([feature('a', 'b'), feature('b', 'c'), feature('c', 'b')]), { message: 'Features need each other: b → c → b' })
})

t.test('two features of one name are an error', async (t) => {
  t.throws(() => sortByNeeds([feature('a'), feature('a')]), { message: "Two features have the name 'a'" })
})

t.test('routes and events are loaded in web workers only', async (t) => {
  const loaded: string[] = []
  const load = (name: string) => async () => { loaded.push(name); return { default: async () => {} } }
  const list = composeFeatures({
    ...featureList,
    features: [defineFeature({
      name: 'a', plugin: load('plugin'), routes: load('routes'), events: async () => { loaded.push('events'); return {} }
    })]
  })
  await list.loadPlugins('worker')
  t.same(loaded, ['plugin'])
  await list.loadPlugins('web')
  t.same(loaded.slice(1).sort(), ['events', 'plugin', 'routes'])
})

t.test('every table, section and group of operations of a descriptor is gathered', async (t) => {
  const { entities, migrations } = await features.loadTables()
  t.equal(new Set(entities).size, entities.length)
  t.ok(entities.length > 50 && migrations.length > 0)
  t.ok((await features.loadSections()).some(({ name }) => name === 'trash'))
  t.same(features.tags[0], { name: 'heartbeat', description: 'The state and the features of the server' })
})
