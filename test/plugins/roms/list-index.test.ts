import fc from 'fast-check'
import t from 'tap'
import { ListIndex } from '../../../plugins/roms/lists/list-index.ts'

const id = fc.oneof(...[[1, 200], [65_500, 65_600], [1, 2 ** 31 - 1]].map(([min, max]) => fc.integer({ min, max })))
const ids = fc.uniqueArray(id, { maxLength: 60 })

t.test('those ROMs of a list that are wanted keep their order and characters', async () => {
  fc.assert(fc.property(ids, ids, (listed, wanted) => {
    const list = ListIndex.of(Int32Array.from(listed), Uint32Array.from(listed, (one) => 97 + one % 26))
    const set = new Set(wanted)
    const [found, rest] = [listed.filter((one) => set.has(one)), listed.filter((one) => !set.has(one))]
    const expected = ListIndex.of(Int32Array.from(found), Uint32Array.from(found, (one) => 97 + one % 26))
    const only = list.only(Int32Array.from(wanted))
    t.same([[...only.toIds()], only.offsets], [found, expected.offsets])
    t.same([...list.without(set).toIds()], rest)
    t.same(list.findAll(set), new Set(found))
  }))
})
