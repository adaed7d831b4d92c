import t from 'tap'
import { listMedia } from '../src/media.ts'

t.test('media are made of addresses, without what is missing or repeated', async (t) => {
  t.same(listMedia('screenshot', ['https://a.example/1.png', undefined, 'https://a.example/2.png', 'https://a.example/1.png']), [
    { kind: 'screenshot', url: 'https://a.example/1.png' }, { kind: 'screenshot', url: 'https://a.example/2.png' }
  ])
  t.same(listMedia('cover', [undefined]), [])
})
