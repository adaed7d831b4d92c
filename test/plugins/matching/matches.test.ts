import fc from 'fast-check'
import t from 'tap'
import { type LookupResult, createMatchUpdates } from '../../../plugins/matching/matches.ts'

const link = (id: number): LookupResult => ({ kind: 'match', match: { ids: { tgdb: id } } })
/** The game that each provider links to. */
const GAMES = { hasheous: 2406, playmatch: 88, other: 7 }

t.test('the first selected provider decides the linked game, whoever answers first', async (t) => {
  const providers = ['hasheous', 'playmatch', 'other'] as const
  const order = () => fc.shuffledSubarray([...providers], { minLength: providers.length })
  fc.assert(fc.property(order(), order(), (selected, arrival) => {
    const updates = createMatchUpdates('complete', new Map(), () => true)
    for (const key of arrival) updates.recordResult(key, link(GAMES[key]))
    const { matches } = updates.finish(selected)
    t.same(matches.get('tgdb'), { id: GAMES[selected[0] ?? 'other'], is_linked: true })
  }), { numRuns: 40 })
})
