import fc from 'fast-check'
import t from 'tap'
import { isFields, readFields, readId, readInteger, readNames, readNumber, readText, toFieldsList, unique }
  from '../src/index.ts'

t.test('a value is read only when it is of the kind asked for', async (t) => {
  const fields = { text: '  a ', empty: ' ', number: 1.5, whole: 7, id: '42', bad: '4x', zero: 0, object: { a: 1 }, list: [1] }
  t.equal(readText(fields, 'text'), 'a')
  t.equal(readText(fields, 'empty'), undefined)
  t.equal(readText(fields, 'number'), undefined)
  t.equal(readNumber(fields, 'number'), 1.5)
  t.equal(readNumber(fields, 'id'), undefined)
  t.equal(readInteger(fields, 'whole'), 7)
  t.equal(readInteger(fields, 'number'), undefined)
  t.equal(readId(fields, 'id'), 42)
  t.equal(readId(fields, 'bad'), undefined)
  t.equal(readId(fields, 'zero'), undefined)
  t.same(readFields(fields, 'object'), { a: 1 })
  t.equal(readFields(fields, 'list'), undefined)
})

t.test('objects are found in a list and in an object keyed by ids', async (t) => {
  t.same(toFieldsList([{ a: 1 }, 2, null]), [{ a: 1 }])
  t.same(toFieldsList({ 7: { a: 1 }, 8: 'x' }), [{ a: 1 }])
  t.same(toFieldsList('x'), [])
  t.same(readNames({ genres: [{ name: 'B' }, { name: 'A' }, { name: 'B' }, {}] }, 'genres'), ['B', 'A'])
  t.same(unique(['b', undefined, 'b', 'a']), ['b', 'a'])
})

t.test('whatever an answer holds, reading it never throws', async () => {
  fc.assert(fc.property(fc.anything(), fc.string(), (value, key) => {
    const fields = isFields(value) ? value : { [key]: value }
    for (const read of [readText, readNumber, readInteger, readId, readFields, readNames]) read(fields, key)
    toFieldsList(value)
  }))
})
