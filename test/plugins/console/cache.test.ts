import { mock } from 'node:test'
import fc from 'fast-check'
import t from 'tap'
import { createCache } from '../../../plugins/console/web/api/cache.ts'
import { Failure } from '../../../plugins/console/web/api/failure.ts'
import { createPages } from '../../../plugins/console/web/ui/grid/pages.ts'
import { until } from '../../until.ts'

interface Request { resolve: (data: string) => void, reject: (err: Error) => void, signal: AbortSignal }

/** A server whose responses the test sends itself, in any order. */
function createSource () {
  const requests: Request[] = []
  return {
    requests,
    load: (signal: AbortSignal) =>
      new Promise<string>((resolve, reject) => { requests.push({ resolve, reject, signal }) })
  }
}
const count = (from: number, length: number) => Array.from({ length }, (_, index) => from + index)
/** Lets handlers of settled promises run. */
const turn = () => new Promise((resolve) => { setImmediate(resolve) })

t.test('components with the same key share one request', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  cache.use('a', load)
  cache.use('a', load)
  t.equal(requests.length, 1)
  t.equal(cache.peek('a', load).isLoading.value, true)
  requests[0]?.resolve('one')
  await turn()
  t.equal(cache.peek('a', load).data.value, 'one')
  t.equal(cache.peek('a', load).isLoading.value, false)
})

t.test('a superseded response is dropped, whatever the order of responses', async () => {
  const counts = fc.integer({ min: 2, max: 6 })
  await fc.assert(fc.asyncProperty(counts, fc.infiniteStream(fc.nat()), async (count, numbers) => {
    const cache = createCache()
    const { requests, load } = createSource()
    cache.use('a', load)
    for (let index = 1; index < count; index++) void cache.reload('a')
    const waiting = requests.map((request, index) => ({ request, index }))
    while (waiting.length > 0) {
      const [next] = waiting.splice(Number(numbers.next().value) % waiting.length, 1)
      next?.request.resolve(`response ${next.index}`)
      await turn()
      const { data } = cache.peek('a', load)
      if (data.value !== undefined && data.value !== `response ${count - 1}`) return false
    }
    return requests.slice(0, -1).every(({ signal }) => signal.aborted)
  }), { numRuns: 40 })
})

t.test('many events of one change lead to one request, and old data stays meanwhile', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  cache.use('a', load)
  requests[0]?.resolve('old')
  await turn()
  for (let event = 0; event < 50; event++) cache.invalidate('a')
  await until(() => requests.length === 2, 'the request')
  const { data } = cache.peek('a', load)
  t.equal(data.value, 'old')
  requests[1]?.resolve('new')
  await turn()
  t.equal(data.value, 'new')
  t.equal(requests.length, 2)
})

t.test('a lost event loads again what was requested before it, and nothing else', async (t) => {
  const cache = createCache()
  const [older, newer] = [createSource(), createSource()]
  cache.use('older', older.load)
  older.requests[0]?.resolve('old')
  await turn()
  const lostUntil = performance.now()
  await until(() => performance.now() > lostUntil, 'a later moment')
  cache.use('newer', newer.load)
  newer.requests[0]?.resolve('current')
  await turn()
  cache.invalidateOlder(lostUntil)
  t.equal(cache.peek('older', older.load).data.value, 'old', 'the former data stays meanwhile')
  await until(() => older.requests.length === 2, 'the request')
  t.equal(newer.requests.length, 1)
})

t.test('a flood of events does not cancel a slow response', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => { mock.timers.reset() })
  const cache = createCache()
  const { requests, load } = createSource()
  cache.use('a', load)
  for (let event = 0; event < 30; event++) {
    cache.invalidate('a')
    mock.timers.tick(100)
  }
  t.equal(requests.length, 1)
  requests[0]?.resolve('first')
  await turn()
  t.equal(cache.peek('a', load).data.value, 'first')
  mock.timers.tick(200)
  t.equal(requests.length, 2, 'the events are followed by a request')
})

t.test('a resource that nobody shows is loaded again only at its next use', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  const end = cache.use('a', load)
  requests[0]?.resolve('old')
  await turn()
  end()
  cache.invalidateAll()
  t.equal(requests.length, 1)
  cache.use('a', load)
  t.equal(requests.length, 2)
  t.equal(cache.peek('a', load).data.value, 'old', 'the way back shows the former data at once')
})

t.test('an event while nobody shows a resource loads it again at its next use', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  const listeners = new Set<() => void>()
  const follow = () => {
    const listener = () => { cache.invalidate('a') }
    listeners.add(listener)
    return () => { listeners.delete(listener) }
  }
  const ends = [cache.use('a', load, follow), cache.use('a', load, follow)]
  requests[0]?.resolve('old')
  await turn()
  for (const end of ends) end()
  for (const listener of listeners) listener()
  t.equal(requests.length, 1)
  const end = cache.use('a', load, follow)
  t.equal(requests.length, 2)
  t.equal(listeners.size, 1)
  end()
  for (let number = 0; number < 100; number++) cache.use(`other ${number}`, load)()
  t.equal(listeners.size, 0, 'a dropped resource follows no events')
  cache.use('a', load, follow)()
  cache.clear()
  t.equal(listeners.size, 0)
})

t.test('a component that leaves and returns during a request gets its data', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  const end = cache.use('a', load)
  end()
  t.equal(requests[0]?.signal.aborted, true)
  cache.use('a', load)
  requests[0]?.reject(new DOMException('aborted', 'AbortError'))
  requests[1]?.resolve('data')
  await turn()
  t.equal(cache.peek('a', load).data.value, 'data')
})

t.test('a failure is told, keeps the former data and ends with a success', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  cache.use('a', load)
  requests[0]?.resolve('data')
  await turn()
  void cache.reload('a')
  requests[1]?.reject(new Failure(500, 'broken'))
  await turn()
  const { data, failure } = cache.peek('a', load)
  t.equal(failure.value?.message, 'broken')
  t.equal(data.value, 'data')
  void cache.reload('a')
  requests[2]?.resolve('new')
  await turn()
  t.equal(failure.value, null)
})

t.test('a change that was just sent is not undone by an older response', async (t) => {
  const cache = createCache()
  const { requests, load } = createSource()
  cache.use('a', load)
  cache.set('a', () => 'changed')
  requests[0]?.resolve('from before')
  await turn()
  t.equal(cache.peek('a', load).data.value, 'changed')
})

/** Two values on a server, and a page that shows both. */
function createValues () {
  const cache = createCache()
  const stored: Values = { left: 0, right: 0 }
  /** The newest values that an event announced. */
  const announced: Values = { left: 0, right: 0 }
  const requests: { answer: () => void, read: () => void }[] = []
  const ends: (() => void)[] = []
  const load = (signal: AbortSignal) => new Promise<Values>((resolve, reject) => {
    let values: Values | null = null
    const read = () => { values ??= { ...stored } }
    requests.push({ read, answer: () => { read(); if (values !== null) resolve(values) } })
    signal.addEventListener('abort', () => { reject(new DOMException('aborted', 'AbortError')) })
  })
  return {
    requests,
    /** The steps of the page, of the server and of the network. */
    steps: {
      use: () => { ends.push(cache.use('a', load)) },
      leave: () => { ends.pop()?.() },
      browse: () => { for (const index of count(0, 9)) cache.use(`${index}`, load)() },
      reload: () => { void cache.reload('a') },
      announce: (side) => {
        announced[side] = ++stored[side]
        const value = stored[side]
        cache.set<Values>('a', (values) => ({ ...values, [side]: value } as Values))
      },
      invalidate: (side) => {
        stored[side]++
        cache.invalidate('a')
      },
      wait: () => { mock.timers.tick(100) },
      read: (_side, index) => { requests[index % Math.max(1, requests.length)]?.read() },
      answer: (_side, index) => { requests.splice(index % Math.max(1, requests.length), 1)[0]?.answer() }
    } as Record<Step, Take>,
    isCurrent: () => {
      const shown = cache.peek('a', load).data.value
      return shown?.left === stored.left && shown.right === stored.right
    },
    /** True unless the page shows a value from before an event. */
    isInOrder: () => SIDES.every((side) => {
      const value = cache.peek('a', load).data.value?.[side]
      return value === undefined || ends.length === 0 || value >= announced[side]
    })
  }
}
const SIDES = ['left', 'right'] as const
type Side = typeof SIDES[number]
type Values = Record<Side, number>
const STEPS = ['use', 'leave', 'browse', 'reload', 'announce', 'invalidate', 'wait', 'read', 'answer'] as const
type Step = typeof STEPS[number]
type Take = (side: Side, index: number) => void

t.test('no order of events and responses undoes an event or loses a change', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => { mock.timers.reset() })
  const step = fc.tuple(fc.constantFrom(...STEPS), fc.constantFrom(...SIDES), fc.nat(5))
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (taken) => {
    const { steps, requests, isInOrder, isCurrent } = createValues()
    for (const [name, side, index] of taken) {
      steps[name](side, index)
      await turn()
      if (!isInOrder()) return false
    }
    steps.use('left', 0)
    for (let rounds = 0; rounds < 3; rounds++) {
      while (requests.length > 0) steps.answer('left', 0)
      await turn()
      mock.timers.tick(1_000)
    }
    return isCurrent()
  }), { numRuns: 300 })
})

t.test('only the pages of a list that people look at are loaded; others are cancelled', async (t) => {
  const asked: { offset: number, signal: AbortSignal, resolve: () => void }[] = []
  const pages = createPages<number>((offset, limit, signal) => new Promise((resolve) => {
    asked.push({ offset, signal, resolve: () => { resolve({ items: count(offset, limit) }) } })
  }), 50)
  pages.loadRange({ first: 0, end: 40 })
  pages.loadRange({ first: 999_900, end: 1_000_000 })
  t.same(asked.map(({ offset }) => offset), [0, 999_900, 999_950])
  t.same(asked.map(({ signal }) => signal.aborted), [true, false, false])
  for (const { resolve } of asked) resolve()
  await turn()
  t.equal(pages.find(0), undefined, 'the response of a cancelled request is dropped')
  t.equal(pages.find(999_999), 999_999)
  pages.loadRange({ first: 999_900, end: 1_000_000 })
  t.equal(asked.length, 3, 'a loaded page is not asked for again')
})

t.test('a page of a list that failed is told until it is loaded or out of sight', async (t) => {
  let isBroken = true
  const pages = createPages<number>(async (offset, limit) => {
    if (offset === 0 && isBroken) throw new Failure(503, 'Too busy')
    return { items: count(offset, limit) }
  }, 50)
  pages.loadRange({ first: 0, end: 100 })
  await turn()
  t.equal(pages.find(50), 50)
  t.equal(pages.failure.value?.message, 'Too busy', 'a later page that arrives hides no failure')
  pages.loadRange({ first: 200, end: 240 })
  t.equal(pages.failure.value, null)
  pages.loadRange({ first: 0, end: 100 })
  await turn()
  t.equal(pages.failure.value?.message, 'Too busy')
  isBroken = false
  pages.loadRange({ first: 0, end: 100 })
  await turn()
  t.equal(pages.failure.value, null)
  t.equal(pages.find(0), 0)
})

t.test('an hour of scrolling keeps few pages', async (t) => {
  const pages = createPages<number>(async (offset, limit) => ({ items: count(offset, limit) }), 50)
  for (let first = 0; first < 100_000; first += 50) {
    pages.loadRange({ first, end: first + 50 })
    await turn()
  }
  const known = Array.from({ length: 100_000 }, (_, index) => index).filter((index) => pages.find(index) !== undefined)
  t.ok(known.length <= 30 * 50)
  t.equal(known.at(-1), 99_999)
})
