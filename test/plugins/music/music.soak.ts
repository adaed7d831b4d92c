import fc from 'fast-check'
import t from 'tap'
import { addMusic, startMusic } from './music-support.ts'

const { start } = await startMusic(t)

t.test('concurrent changes of a playlist lose nothing and leave one requested order', async (t) => {
  const { test, anna } = await start(t)
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${index}.mp3`, { title: `${index}` }]))
  const { ids } = await addMusic(test, 'One', files)
  const { id } = await anna.make('Mine')
  const path = `playlists/${id}/tracks`
  await Promise.all(ids.map((one) => anna.send('POST', path, [one])))
  t.same((await anna.ids(path)).toSorted((x, y) => x - y), ids)
  const { rows } = await test.app.pg.query<{ n: number }>('select count(distinct position)::int as n from music_playlist_tracks')
  t.same(rows, [{ n: ids.length }], 'no two stand at the same place')
  const orders = Array.from({ length: 6 }, (_, turn) => [...ids.slice(turn), ...ids.slice(0, turn)])
  const replies = await Promise.all(orders.map((order) => anna.send('PUT', `${path}/order`, order)))
  t.ok(replies.every(({ statusCode }) => statusCode === 204))
  const left = await anna.ids(path)
  t.ok(orders.some((order) => String(order) === String(left)), String(left))
})

t.test('after any changes a playlist equals a plain list with the same changes', async (t) => {
  const { test, anna } = await start(t)
  const { ids } = await addMusic(test, 'One', Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}.mp3`, { title: `${index}` }])))
  const some = fc.array(fc.constantFrom(...ids), { maxLength: 6 })
  const step = fc.tuple(fc.constantFrom('add', 'remove', 'order'), some)
  let count = 0
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
    const path = `playlists/${(await anna.make(`List ${count++}`)).id}/tracks`
    let list: number[] = []
    for (const [kind, given] of steps) {
      const named = [...new Set(given)]
      const known = named.filter((id) => list.includes(id))
      if (kind === 'add') {
        t.same((await anna.send('POST', path, given)).json(), { added: named.length - known.length })
        list = [...list, ...named.filter((id) => !list.includes(id))]
      } else if (kind === 'remove') {
        t.same((await anna.send('DELETE', path, given)).json(), { removed: known.length })
        list = list.filter((id) => !named.includes(id))
      } else {
        const isWhole = known.length === named.length
        t.equal((await anna.send('PUT', `${path}/order`, given)).statusCode, isWhole ? 204 : 400)
        if (isWhole) list = [...named, ...list.filter((id) => !named.includes(id))]
      }
      t.same(await anna.ids(path), list)
    }
  }), { numRuns: 15 })
})
