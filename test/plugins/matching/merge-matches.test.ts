import type { Match } from '@svc/plugin-sdk'
import t from 'tap'
import type { ProviderMatch } from '../../../plugins/matching/matches.ts'
import {
  type MergeBase, type Priorities, mediaOf, mergeMatches, rank, readPriorities
} from '../../../plugins/matching/merge-matches.ts'
import { loadConfig } from '../../load-config.ts'

type Definition = NonNullable<ReturnType<Parameters<typeof readPriorities>[1]['get']>>['definition']

const { config } = loadConfig({})
const DEFINITIONS: Definition[] = [
  { key: 'first' }, { key: 'second' }, { key: 'claims', claims: ['name', 'summary', 'media'], order: { after: ['first'] } }
]
const PROVIDERS = new Map(DEFINITIONS.map((definition) => [definition.key, { definition }]))
const ORDER = ['first', 'second', 'claims']
const PRIORITIES: Priorities = {
  ...readPriorities(config, PROVIDERS),
  metadata: ORDER,
  cover: ORDER,
  screenshot: ORDER,
  manual: ORDER,
  media: ['cover', 'screenshot', 'manual', 'logo']
}
const BASE: MergeBase = {
  fs_name_no_tags: 'harbor', regions: [], languages: [], own_cover: null, former: {}, locked: {}
}

function merge (
  matches: Record<string, Partial<Match>>, base: Partial<MergeBase> = {}, priorities: Partial<Priorities> = {}
) {
  const found = Object.entries(matches).map(([key, match]): [string, ProviderMatch] => [key, { id: 1, ...match }])
  return mergeMatches(new Map(found), { ...BASE, ...base }, { ...PRIORITIES, ...priorities })
}
const cover = (url: string): Match['media'] => [{ kind: 'cover', url }]

t.test('configured providers precede the others, which follow in load order', async (t) => {
  const priority = { ...config.scan.priority, metadata: ['second'], artwork: ['claims'], cover: ['gone', 'second'] }
  const priorities = readPriorities({ ...config, scan: { ...config.scan, priority } }, PROVIDERS)
  t.same(priorities.metadata, ['second', 'first', 'claims'])
  t.same(priorities.cover, ['gone', 'second', 'first', 'claims'])
  t.same(priorities.manual, ['claims', 'first', 'second'], 'a kind without an order of its own has that of artwork')
  t.equal(priorities.predecessorCounts.get('claims'), 1)
})

t.test('matches without an id are not ranked, and unknown providers come last', async (t) => {
  const matches = new Map<string, ProviderMatch>([
    ['z', { id: 1 }], ['a', { id: 2 }], ['second', { id: 3 }], ['links', { ids: { first: 4 } }]
  ])
  t.same(rank(matches, ORDER).map(([key]) => key), ['second', 'a', 'z'])
})

t.test('each field comes from the first provider with a value', async (t) => {
  const merged = merge({ second: { name: 'Port', summary: 'Boats', genres: ['Sim'] }, first: { name: 'Harbor', summary: '', genres: [] } })
  t.match(merged, { name: 'Harbor', summary: 'Boats', genres: ['Sim'] })
  t.match(merge({ first: { genres: [' Sim ', '', 'Sim', 'Sea'] } }), { genres: ['Sim', 'Sea'] }, 'without blanks and repeats')
})

t.test('numbers of several providers become their mean or the largest', async (t) => {
  const merged = merge({
    first: { average_rating: 60, min_age: 6, player_count: '1' }, second: { average_rating: 80, min_age: 12, player_count: '2' }
  })
  t.match(merged, { average_rating: 70, min_age: 12, player_count: '2' }, 'one player is what providers say that know none')
  t.match(merge({}), { average_rating: null, min_age: null, player_count: '1' })
})

t.test('without a match a ROM has the name of its file', async (t) => {
  t.match(merge({}), { name: 'harbor', summary: null, url_cover: null, url_screenshots: [], genres: [] })
})

t.test('tags of the file name precede the providers', async (t) => {
  const matches = { first: { regions: ['USA'], languages: ['en'] } }
  t.match(merge(matches), { regions: ['USA'], languages: ['en'] })
  t.match(merge(matches, { regions: ['Japan'], languages: ['ja'] }), { regions: ['Japan'], languages: ['ja'] })
})

t.test('former texts and pictures stay, except a name that is only that of the file', async (t) => {
  const matches = { first: { name: 'Harbor', summary: 'Boats', media: cover('https://a.example/1') } }
  const kept = { name: 'My harbor', summary: 'Mine', url_cover: 'https://b.example/2' }
  t.match(merge(matches, { former: kept }), kept)
  t.match(merge(matches, { former: { name: 'harbor', summary: '' } }), { name: 'Harbor', summary: 'Boats', url_cover: 'https://a.example/1' })
})

t.test('a provider with a claim precedes all others and former values', async (t) => {
  const matches = {
    first: { name: 'Harbor', summary: 'Boats', media: cover('https://a.example/1') },
    claims: { name: 'Tide', summary: 'Sea', media: cover('https://c.example/3') }
  }
  const kept = { name: 'Old', summary: 'Old', url_cover: 'https://b.example/2' }
  const claimed = { name: 'Tide', summary: 'Sea', url_cover: 'https://c.example/3' }
  t.match(merge(matches), claimed)
  t.match(merge(matches, { former: kept }), claimed)
  t.match(merge({ first: matches.first, claims: {} }, { former: kept }), kept, 'unless it has no value')
})

t.test('a value that a person set stays over everything else', async (t) => {
  const matches = { claims: { name: 'Tide', sort_name: 'Tide, The', genres: ['Sim'] } }
  t.match(merge(matches), { name: 'Tide', name_sort_key: /^tide, the/i })
  t.match(merge(matches, { locked: { name: 'Mine', genres: ['Mine'] } }), { name: 'Mine', name_sort_key: /^mine/i, genres: ['Mine'] })
})

t.test('only addresses that the server may fetch become media', async (t) => {
  const media: Match['media'] = [{ kind: 'cover', url: 'javascript:alert(1)' }, { kind: 'cover', url: 'HTTPS://a.example/1' }]
  t.same(mediaOf([{ id: 1, media }], 'cover').map(({ url }) => url), ['HTTPS://a.example/1'])
  t.same(mediaOf([{ id: 1, media: media.slice(0, 1) }, { id: 2, media: cover('file:///b.png') }], 'cover').map(({ url }) => url), ['file:///b.png'])
})

t.test('kinds of media that are not configured are not stored', async (t) => {
  const media: Match['media'] = [{ kind: 'logo', url: 'https://a.example/logo' }, { kind: 'manual', url: 'https://a.example/manual' }]
  t.match(merge({ first: { media } }), { media: { logo: { url: 'https://a.example/logo', path: null } }, url_manual: 'https://a.example/manual' })
  t.match(merge({ first: { media } }, {}, { media: ['cover'] }), { media: {}, url_manual: null })
})

t.test('a stored file stays with its medium as long as the address is the same', async (t) => {
  const kept = { media: { logo: { url: 'https://a.example/logo', path: 'logo.png' } } }
  const logo = (url: string) => merge({ first: { media: [{ kind: 'logo', url }] } }, { former: kept }).media.logo
  t.same(logo('https://a.example/logo'), kept.media.logo)
  t.same(logo('https://a.example/other'), { url: 'https://a.example/other', path: null })
  t.same(merge({}, { former: kept }).media, kept.media)
})
