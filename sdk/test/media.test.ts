import t from 'tap'
import { listMedia } from '../src/readers/index.ts'

t.test('listMedia builds media from URLs and skips missing and repeated ones', async (t) => {
  t.same(listMedia('screenshot', ['https://a.example/1.png', undefined, 'https://a.example/2.png', 'https://a.example/1.png']), [
    { kind: 'screenshot', url: 'https://a.example/1.png' }, { kind: 'screenshot', url: 'https://a.example/2.png' }
  ])
  t.same(listMedia('cover', [undefined]), [])
})
