import type { LookupStep, Match } from '@svc/plugin-sdk'
import t from 'tap'
import { createLookupSteps } from '../../../plugins/matching/lookup-steps.ts'
import {
  explainChoice, explainLookup, explainMatches, listKnownIds, listMisses
} from '../../../plugins/matching/match-explanation.ts'
import type { ProviderMatch } from '../../../plugins/matching/matches.ts'
import { toLookupView } from '../../../plugins/matching/views.ts'
import { describeLookup } from '../../../plugins/scans/cli/describe-lookup.ts'

const ROM = { name: 'Harbor', platform: 'snes', at: new Date('2026-01-02T03:04:05Z') }
const match: Match = { id: 1 }
const FOUND = { kind: 'match', match } as const
const MISS = { kind: 'miss' } as const
const hash: LookupStep = { by: 'hash', hashes: ['md5', 'sha1'] }
const search = (...scores: (number | null)[]): LookupStep => ({
  by: 'search', term: 'harbor', threshold: 0.85, count: scores.length, candidates: scores.map((score) => ({ name: 'Harbor 2', score }))
})
const decide = (...args: Parameters<typeof explainLookup>) => {
  const { method, reason } = explainLookup(...args)
  return [method, reason]
}

t.test('the last step of a lookup decides the method of its match', async (t) => {
  t.same(decide(ROM, FOUND, [{ by: 'id', id: 1, from: 'tag' }]), ['tag', 'id_known'])
  t.same(decide(ROM, FOUND, [{ by: 'id', id: 1, from: 'link', provider: 'hasheous' }]), ['link', 'id_known'])
  t.same(decide(ROM, FOUND, [hash]), ['hash', 'hash_known'])
  t.same(decide(ROM, FOUND, [hash, search(0.9)]), ['search', 'best_candidate'])
  t.same(decide(ROM, FOUND, [{ by: 'sidecar', path: 'roms/snes/gamelist.xml' }]), ['sidecar', 'sidecar_entry'])
  t.same(decide(ROM, FOUND, []), ['provider', 'unexplained'])
})

t.test('a miss has the reason of its search, else of its other steps', async (t) => {
  t.same(decide(ROM, MISS, [hash, search(0.71, 0.3, null)]), [null, 'score_too_low'])
  t.same(decide(ROM, MISS, [hash, search(0.85)]), [null, 'candidate_refused'])
  t.same(decide(ROM, MISS, [hash, search()]), [null, 'no_candidate'])
  t.same(decide(ROM, MISS, [{ by: 'id', id: 1, from: 'tag' }, hash]), [null, 'hash_unknown'])
  t.same(decide(ROM, MISS, [{ by: 'id', id: 1, from: 'tag' }]), [null, 'id_unknown'])
  t.same(decide(ROM, MISS, []), [null, 'unknown'])
  t.same(decide(ROM, { kind: 'passed' }, []), [null, 'not_needed'])
  t.match(explainLookup(ROM, { kind: 'failed' }, [], 'x'.repeat(500)), { reason: 'failed', problem: /^x{199}…$/ })
})

t.test('ids from other providers follow the planned one, each once', async (t) => {
  const matches = new Map<string, ProviderMatch>([['a', { ids: { c: 1 } }], ['b', { id: 5, ids: { c: 2 } }]])
  t.same(listKnownIds('c', { id: 2, from: 'tag' }, matches), [{ id: 2, from: 'tag' }, { id: 1, from: 'link', provider: 'a' }])
})

t.test('an id that no provider was asked about names the provider that gave it', async (t) => {
  const all = new Map<string, ProviderMatch>([['a', { id: 1, ids: { b: 7 } }], ['b', { id: 7, is_linked: true }]])
  const explanations = explainMatches(ROM, { matches: all, newMatches: all }, new Map([['a', explainChoice(ROM, 1)]]))
  t.match(explanations.get('a'), { method: 'person', steps: [{ by: 'id', id: 1, from: 'person' }] })
  t.match(explanations.get('b'), { method: 'link', reason: 'id_not_checked', steps: [{ id: 7, provider: 'a' }] })
})

t.test('only providers without a match have a miss', async (t) => {
  const miss = explainLookup(ROM, MISS, [hash])
  const lookups = new Map([['a', miss], ['b', miss], ['c', explainLookup(ROM, FOUND, [hash])]])
  t.same([...listMisses(new Map([['a', match], ['c', match]]), lookups).keys()], ['b'])
})

t.test('steps stay short, whatever a plugin passes', async (t) => {
  const steps = createLookupSteps()
  for (const wrong of [null, 1, 'hash', {}, { by: 'hash' }, { by: 'hash', hashes: ['tiger'] }, { by: 'search', term: 1 },
    { by: 'search', term: '', threshold: 2, count: 0, candidates: [] }, { by: 'id', id: 1, from: 'nobody', more: 'x'.repeat(999) }]) {
    t.equal(steps.addChecked(wrong), null, JSON.stringify(wrong))
  }
  for (let count = 0; count < 20; count++) {
    steps.addChecked({ ...search(...Array.from({ length: 50 }, () => 0.8499999)), term: 'x'.repeat(5_000) })
  }
  const list = steps.list()
  t.equal(list.length, 8)
  t.equal(list.flatMap((step) => step.by === 'search' ? step.candidates : []).length, 10, 'candidates of the last step')
  t.match(list.at(-1), { term: /^x{99}…$/, candidates: { 0: { score: 0.849 } } })
  t.ok(JSON.stringify(list).length < 4_000)
})

t.test('a lookup is described in words', async (t) => {
  const describe = (...args: Parameters<typeof explainLookup>) => describeLookup(toLookupView({
    provider: 'ss', provider_id: args[1].kind === 'match' ? '1' : null, score: null, explanation: explainLookup(...args)
  }))
  t.equal(describe(ROM, MISS, [hash, search(0.719, null)]), [
    '  ss: no game, because no candidate is similar enough (2026-01-02T03:04:05.000Z)',
    '    looked up by hash (md5, sha1)',
    '    looked up by name "harbor": 2 candidates, best 0.71 below 0.85',
    '      0.71 Harbor 2',
    '      other number Harbor 2\n'
  ].join('\n'))
  t.match(describe(ROM, FOUND, [{ by: 'id', id: 1, from: 'link', provider: 'hasheous' }]), /game 1, .+\n.+by the id 1 that hasheous gave\n/)
  t.match(describeLookup(toLookupView({ provider: 'old', provider_id: '3', score: 0.9, explanation: null })),
    'old: game 3, score 0.90, because the match was stored before lookups were recorded')
})
