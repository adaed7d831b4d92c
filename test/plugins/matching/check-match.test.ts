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

t.test('an id that no index can hold is refused with its length', (t) => {
  t.match(checkMatch({ id: 'i'.repeat(500) }, provider('string')), { id: /^i+$/ })
  t.throws(() => checkMatch({ id: 'i'.repeat(501) }, provider('string')),
    { message: "Provider 'demo' returned an id of 501 characters, but the limit is 500; return the id that the service uses" })
  t.end()
})

t.test('media with an address of more than 4,096 characters are dropped', (t) => {
  const listMedia = (length: number): Media[] => [{ kind: 'cover', url: 'https://demo.example/'.padEnd(length, 'x') }]
  t.same(checkMatch({ id: 1, media: [...listMedia(4_097), ...listMedia(4_096)] }, provider('integer')), { id: 1, media: listMedia(4_096) })
  t.end()
})

t.test('the error for a match that JSON cannot hold names the provider', (t) => {
  t.throws(() => checkMatch({ id: 1, metadata: { size: 1n } }, provider('integer')),
    { name: 'PluginAnswerError', message: /^Provider 'demo' returned a match that JSON cannot hold: .*BigInt/ })
  t.end()
})
