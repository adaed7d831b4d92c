import t from 'tap'
import { createLruCache } from '../../core/lru-cache.ts'

t.test('the least recently used entries are evicted first', async (t) => {
  const evicted: string[] = []
  const cache = createLruCache<string, string>({ max: 2, onEvict: (value) => { evicted.push(value) } })
  cache.set('a', 'A')
  cache.set('b', 'B')
  t.equal(cache.get('a'), 'A')
  cache.set('c', 'C')
  t.same([cache.get('a'), cache.get('b'), cache.get('c')], ['A', undefined, 'C'])
  t.same(evicted, ['B'])
  t.same(cache.values(), ['A', 'C'])
})

t.test('the weight of a cache follows replaced and deleted entries', async (t) => {
  const cache = createLruCache<number, string>({ max: 10, weightOf: (value, key) => value.length + key })
  cache.set(1, '1234')
  cache.set(2, '12')
  t.equal(cache.weight(), 9)
  cache.set(1, '1')
  t.equal(cache.weight(), 6)
  cache.delete(2)
  cache.delete(3)
  t.equal(cache.weight(), 2)
})

t.test('a value heavier than the cache is not stored, and replaces an older one', async (t) => {
  const cache = createLruCache<string, string>({ max: 3, weightOf: (value) => value.length })
  cache.set('a', '12')
  cache.set('b', '1')
  cache.set('b', '12345')
  t.same([cache.get('a'), cache.get('b'), cache.weight()], ['12', undefined, 2])
})
