import fc from 'fast-check'
import t from 'tap'
import { startHistoryHost } from './history-host.ts'
import { EXAMPLES, histories } from './histories.ts'

/** Number of histories; `npm run soak` runs more of them and also kills the server. */
const RUNS = 4

const play = await startHistoryHost(t)

t.test('no history of devices and their user loses or undoes a save', async (t) => {
  await fc.assert(fc.asyncProperty(histories({ kills: false }), play), { numRuns: RUNS, examples: EXAMPLES })
  t.pass('all histories')
})
