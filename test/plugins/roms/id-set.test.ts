import fc from 'fast-check'
import t from 'tap'
import { bitOf, bytesOf, intersect, listIds, replace, toIdSet, unite } from '../../../plugins/roms/lists/id-set.ts'

const id = fc.oneof(...[[1, 200], [65_500, 65_600], [1, 2 ** 31 - 1]].map(([min, max]) => fc.integer({ min, max })))
const ids = fc.array(id, { maxLength: 60 })
const sorted = (values: Iterable<number>) => Int32Array.from(values).sort()

t.test('sets of ids are united and intersected as other sets are', async (t) => {
  fc.assert(fc.property(ids, ids, (one, other) => {
    const [some, more] = [new Set(one), new Set(other)]
    const list = (set: ReturnType<typeof toIdSet>) => listIds(set, 200)
    t.same(list(toIdSet(one)), sorted(some))
    t.same(list(unite(toIdSet(one), toIdSet(other))), sorted(some.union(more)))
    t.same(list(intersect(toIdSet(one), toIdSet(other))), sorted(some.intersection(more)))
    for (const value of [...one, ...other]) t.equal(bitOf(toIdSet(one), value), some.has(value) ? 1 : 0)
  }), { numRuns: 100 })
})

t.test('a set with replaced ids leaves the former one as it was', async (t) => {
  fc.assert(fc.property(ids, ids, ids, (one, changed, wanted) => {
    const [former, has] = [toIdSet(one), new Set(wanted)]
    const expected = new Set(one).difference(new Set(changed)).union(new Set(changed).intersection(has))
    t.same(listIds(replace(former, changed, has), 200), sorted(expected))
    t.same(listIds(former, 200), sorted(new Set(one)))
  }), { numRuns: 100 })
})

t.test('only the ids of small sets are listed', async (t) => {
  t.same(listIds(toIdSet([7, 9]), 2), Int32Array.of(7, 9))
  t.equal(listIds(toIdSet([7, 8, 70_000]), 2), null)
  t.ok(bytesOf(toIdSet(Int32Array.from({ length: 1_000_000 }, (_, index) => index + 1))) < 150_000)
})
