import t from 'tap'
import { createSemaphore } from '../../../core/concurrency/semaphore.ts'
import { until } from '../../until.ts'

/** Creates work that begins when a slot is free and ends on request. */
function createWork (slots: ReturnType<typeof createSemaphore>, signal = new AbortController().signal) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    start: (name: string, own = signal) => slots.run(async () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<string>()
      ends.set(name, () => { resolve(name) })
      return await promise
    }, own),
    end: (name: string) => { ends.get(name)?.() }
  }
}

t.test('a semaphore bounds concurrent work, first come, first served', async (t) => {
  const { begun, start, end } = createWork(createSemaphore(2))
  const all = ['a', 'b', 'c', 'd'].map((name) => start(name))
  t.same(begun, ['a', 'b'])
  end('b')
  await until(async () => begun.length === 3, 'the next one')
  t.same(begun, ['a', 'b', 'c'])
  for (const name of ['a', 'c']) end(name)
  await until(async () => begun.length === 4, 'the last one')
  end('d')
  t.same(await Promise.all(all), ['a', 'b', 'c', 'd'])
})

t.test('heavy work waits for as many slots, and work behind it waits too', async (t) => {
  const slots = createSemaphore(10)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const start = (name: string, weight: number, signal?: AbortSignal) => slots.run(async () => {
    begun.push(name)
    await new Promise<void>((resolve) => { ends.set(name, resolve) })
  }, signal, weight)
  const leaving = new AbortController()
  const all = [start('six', 6), start('five', 5), start('four', 4)]
  const gone = start('gone', 10, leaving.signal)
  all.push(start('heavier than all', 11), start('one', 1))
  t.same(begun, ['six'], 'four would fit, but came later than five')
  ends.get('six')?.()
  await until(async () => begun.length === 3, 'the next two')
  leaving.abort(new Error('no longer wanted'))
  await t.rejects(gone, { message: 'no longer wanted' })
  t.same(begun, ['six', 'five', 'four'])
  for (const name of ['five', 'four', 'heavier than all', 'one']) {
    await until(async () => begun.includes(name), name)
    ends.get(name)?.()
  }
  await Promise.all(all)
})

t.test('failed work frees its slot and rejects its own promise', async (t) => {
  const slots = createSemaphore(1)
  const { signal } = new AbortController()
  const failing = slots.run(async () => { throw new Error('broken') }, signal)
  const next = slots.run(async () => 'next', signal)
  await t.rejects(failing, { message: 'broken' })
  t.equal(await next, 'next')
})

t.test('aborted work leaves the queue with its reason, and no other work does', async (t) => {
  const { begun, start, end } = createWork(createSemaphore(1))
  const leaving = new AbortController()
  const first = start('first')
  const gone = [start('gone', leaving.signal), start('gone too', leaving.signal)]
  const last = start('last')
  leaving.abort(new Error('no longer wanted'))
  for (const each of gone) await t.rejects(each, { message: 'no longer wanted' })
  await t.rejects(start('late', leaving.signal), { message: 'no longer wanted' })
  end('first')
  await first
  await until(async () => begun.includes('last'), 'the one that stayed')
  end('last')
  t.equal(await last, 'last')
  t.same(begun, ['first', 'last'])
})

t.test('a new limit applies to waiting work', async (t) => {
  const slots = createSemaphore(1)
  const { begun, start, end } = createWork(slots)
  const all = ['a', 'b', 'c'].map((name) => start(name))
  slots.setLimit(2)
  await until(async () => begun.length === 2, 'the second one')
  slots.setLimit(1)
  end('a')
  await all[0]
  t.same(begun, ['a', 'b'], 'one is under way still')
  end('b')
  await until(async () => begun.length === 3, 'the third one')
  end('c')
  t.same(await Promise.all(all), ['a', 'b', 'c'])
})
