import type { Media, MediaKind } from '@svc/plugin-sdk'
import t from 'tap'
import { checkMatch } from '../../../plugins/matching/check-match.ts'

const provider = (id: 'integer' | 'string') =>
  ({ key: 'demo', definition: { id }, trust: { secrets: [] }, allowsMedia: () => true }) as never

t.test('media over the limit are dropped, and badges have a limit of their own', (t) => {
  const listMedia = (kind: MediaKind, count: number): Media[] =>
    Array.from({ length: count }, (_none, index) => ({ kind, url: `https://demo.example/${kind}/${index}.png` }))
  const media = [...listMedia('badge', 2_001), ...listMedia('fanart', 499), ...listMedia('screenshot', 20)]
  t.same(checkMatch({ id: 1, media }, provider('integer')), {
    id: 1, media: [...media.slice(0, 2_000), ...media.slice(2_001, 2_501)]
  })
  t.end()
})
