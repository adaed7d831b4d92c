import fc from 'fast-check'
import t from 'tap'
import { createLruCache } from '../../../core/lru-cache.ts'
import { toIdSet } from '../../../plugins/roms/lists/id-set.ts'
import { ListIndex } from '../../../plugins/roms/lists/list-index.ts'

const id = fc.oneof(...[[1, 200], [65_500, 65_600], [1, 2 ** 31 - 1]].map(([min, max]) => fc.integer({ min, max })))
const ids = fc.uniqueArray(id, { maxLength: 60 })

t.test('those ROMs of a list that are wanted keep their order and characters', async () => {
  fc.assert(fc.property(ids, ids, (listed, wanted) => {
    const list = ListIndex.of(Int32Array.from(listed), Uint32Array.from(listed, (one) => 97 + one % 26))
    const set = new Set(wanted)
    const [found, rest] = [listed.filter((one) => set.has(one)), listed.filter((one) => !set.has(one))]
    const expected = ListIndex.of(Int32Array.from(found), Uint32Array.from(found, (one) => 97 + one % 26))
    const only = list.only(toIdSet(wanted))
    t.same([[...only.toIds()], only.offsets], [found, expected.offsets])
    t.same([...list.without(toIdSet([...set])).toIds()], rest)
    t.same(list.findAll(set), new Set(found))
  }))
})

t.test('cached lists weigh the segments that they share once, whichever is dropped first', async (t) => {
  const cache = createLruCache<string, ListIndex>({
    max: 1e9, weightOf: ({ bytes }) => bytes, partsOf: ({ parts }) => parts
  })
  const all = ListIndex.of(Int32Array.from({ length: 50_000 }, (_, index) => index + 1), new Uint32Array(50_000))
  cache.set('all', all)
  const whole = cache.weight()
  cache.set('own', all.without(toIdSet([5])))
  t.ok(cache.weight() < whole * 1.1, `${cache.weight()} of both`)
  cache.delete('all')
  t.ok(cache.weight() > whole * 0.9, `${cache.weight()} of the one that is left`)
  cache.set('own', all.without(toIdSet([5, 9_000])))
  t.ok(cache.weight() > whole * 0.9, `${cache.weight()} after an update`)
  cache.delete('own')
  t.equal(cache.weight(), 0)
})
