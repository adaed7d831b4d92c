import type { IndexEntry } from '@svc/plugin-sdk'
import t from 'tap'
import { createTestDatabase } from '../support.ts'
import { connect, entriesOf, listTables, open, scope } from './plugin-index-support.ts'

t.test('the first use builds the index once, and keys have their values in order', async (t) => {
  const db = await connect(t, await createTestDatabase(t))
  let builds = 0
  const index = open(db, async function * () {
    builds++
    yield [['tetris', { id: 1 }], ['tétris "\\\n\t', [null, 'a\\"b\n']]]
    yield [['tetris', { id: 2 }], ['', 0], ['nothing', undefined], ['x'.repeat(601), 1], ['nul\0', 1], ['sep\x01', 1]]
  })
  t.equal(await index.builtAt(), undefined)
  const [found] = await Promise.all([
    index.getMany(['tetris', 'none', 'tétris "\\\n\t', '', 'nothing', 'nul\0', 'sep\x01', 'x'.repeat(601)]),
    ...Array.from({ length: 20 }, () => index.getMany(['tetris']))
  ])
  t.equal(builds, 1)
  t.same([...found], [
    ['tetris', [{ id: 1 }, { id: 2 }]], ['tétris "\\\n\t', [[null, 'a\\"b\n']]], ['', [0]], ['nothing', [null]]
  ])
  t.ok(Math.abs(Date.now() - (await index.builtAt() ?? 0)) < 60_000)
  t.equal((await index.getMany([])).size, 0)
})

t.test('each plugin has its own index', async (t) => {
  const db = await connect(t, await createTestDatabase(t))
  const [one, two] = [open(db, entriesOf(['a', 1])), open(db, entriesOf(['a', 2]), 'provider/other')]
  t.same([...await one.getMany(['a'])], [['a', [1]]])
  t.same([...await two.getMany(['a'])], [['a', [2]]])
  t.equal((await listTables(db)).length, 2)
})

t.test('lookups during a rebuild see one complete build, also in other processes', async (t) => {
  const databaseUrl = await createTestDatabase(t)
  const [db, otherPool] = [await connect(t, databaseUrl), await connect(t, databaseUrl)]
  let version = 0
  const keys = Array.from({ length: 50 }, (_none, index) => `key ${index}`)
  const index = open(db, async function * () {
    version++
    yield keys.map((key): IndexEntry => [key, version])
  })
  const other = open(otherPool, () => { throw new Error('It is built already') })
  await index.rebuild(scope)
  const over = new AbortController()
  let lookups = 0
  async function look (at: typeof index): Promise<void> {
    while (!over.signal.aborted) {
      const versions = new Set([...(await at.getMany(keys)).values()].flat())
      if (versions.size !== 1) t.same([...versions], 'one version')
      lookups++
    }
  }
  const looking = Promise.all([look(index), look(other)])
  for (let round = 0; round < 10; round++) t.equal(await index.rebuild(scope), 50)
  over.abort()
  await looking
  t.ok(lookups > 10, `${lookups} lookups`)
  t.same([...(await other.getMany(['key 7'])).values()], [[11]])
  t.equal((await listTables(db)).length, 1, 'former builds are gone')
})

t.test('a failed build keeps the former index and leaves no table', async (t) => {
  const db = await connect(t, await createTestDatabase(t))
  let isBroken = false
  const index = open(db, async function * () {
    yield Array.from({ length: 6_000 }, (_none, row): IndexEntry => [`key ${row}`, isBroken ? 'new' : 'old'])
    if (isBroken) throw new Error('the archive is broken')
  })
  await index.rebuild(scope)
  const builtAt = await index.builtAt()
  isBroken = true
  await t.rejects(index.rebuild(scope), { message: 'the archive is broken' })
  const stopped = AbortSignal.abort(new Error('stopped'))
  await t.rejects(index.rebuild({ ...scope, signal: stopped }), { message: 'stopped' })
  t.same((await index.getMany(['key 5999'])).get('key 5999'), ['old'])
  t.equal(await index.builtAt(), builtAt)
  t.equal((await listTables(db)).length, 1)
})

t.test('an empty build keeps the former index; without one, lookups fail', async (t) => {
  const db = await connect(t, await createTestDatabase(t))
  let entries: IndexEntry[] = []
  const index = open(db, async function * () { yield entries })
  t.equal(await index.rebuild(scope), 0)
  t.equal(await index.builtAt(), undefined)
  await t.rejects(index.getMany(['key']), { message: /provider\/demo is empty, because its build returned no entry/ })
  entries = [['key', 'old']]
  t.equal(await index.rebuild(scope), 1)
  entries = []
  t.equal(await index.rebuild(scope), 0)
  t.same((await index.getMany(['key'])).get('key'), ['old'])
  t.equal((await listTables(db)).length, 1)
})

t.test('the progress comes from the plugin, else from the stored rows', async (t) => {
  const db = await connect(t, await createTestDatabase(t))
  const told: object[] = []
  const report = (progress: object) => { told.push(progress) }
  const rows = Array.from({ length: 12_000 }, (_none, row): IndexEntry => [String(row), row])
  await open(db, entriesOf(...rows)).rebuild({ ...scope, report })
  t.same(told, [{ done: 12_000 }])
  told.length = 0
  await open(db, async function * (given) {
    given.report?.({ done: 1, total: 4, message: 'Games' })
    yield rows
  }).rebuild({ ...scope, report })
  t.same(told, [{ done: 1, total: 4, message: 'Games' }])
})
