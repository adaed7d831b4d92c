import t from 'tap'
import { installFixtures } from './install.ts'
import { START_TIMEOUT_MS, listInstalled, load } from './loader-support.ts'

/** So many plugins that loading them one after the other would take far longer than a busy machine needs. */
const HANGING = 40

t.test('many hanging plugins fail with a reason, in no more time than one', async (t) => {
  const dataDir = installFixtures(t, ['hangs-in-setup', 'hangs-on-import', 'good-provider'])
  const before = performance.now()
  const packages = listInstalled(dataDir)
  const hanging = packages.filter(({ name }) => name.includes('hangs'))
  const more = Array.from({ length: HANGING / hanging.length - 1 }, () => hanging).flat()
  const { registry } = await load(t, dataDir, [...packages, ...more])
  t.ok(performance.now() - before < START_TIMEOUT_MS * HANGING, 'two limits, one for loading and one for setting up')
  t.same([...registry.providers.keys()], ['good-provider'])
  const reasonOf = (name: string) => registry.records.find((record) => record.package.endsWith(name))?.reason
  t.equal(reasonOf('hangs-in-setup'), 'its setup does not end within 4 s')
  t.equal(reasonOf('hangs-on-import'), 'loading it does not end within 4 s')
})
