import fc from 'fast-check'
import t from 'tap'
import { joinList, splitList } from '../../../plugins/console/web/pages/rom-edit/list-text.ts'

const value = fc.oneof(fc.string({ unit: fc.constantFrom('a', ',', '"', ' ', '\n', 'é') }), fc.string({ unit: 'grapheme' }))
  .map((text) => text.trim()).filter((text) => text !== '')

t.test('a list of any values is written as text and read again', async (t) => {
  fc.assert(fc.property(fc.array(value, { maxLength: 6 }), (values) => {
    t.same(splitList(joinList(values)), values)
  }), { numRuns: 200 })
  t.equal(joinList(['Foo Co., Ltd.', 'Bar']), '"Foo Co., Ltd.", Bar')
})

t.test('what a person types is read as values', async (t) => {
  t.same(splitList(' RPG,, Action ,'), ['RPG', 'Action'])
  t.same(splitList('"A, B" , C'), ['A, B', 'C'])
  t.same(splitList('"A, B'), ['"A', 'B'], 'a quotation mark that nothing closes is a part of the value')
  t.same(splitList('The "X", Y'), ['The "X"', 'Y'])
  t.same(splitList(''), [])
})
