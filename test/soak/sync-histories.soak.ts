import fc from 'fast-check'
import t from 'tap'
import { startHistoryHost } from '../plugins/sync/history-host.ts'
import { histories } from '../plugins/sync/histories.ts'

const RUNS = Number(process.env.SOAK_ROUNDS ?? 5) * 100
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${RUNS / 100}`)

const play = await startHistoryHost(t)

t.test('any history of devices and their user loses nothing and ends with the newest', async (t) => {
  await fc.assert(fc.asyncProperty(histories({ kills: false }), play), { numRuns: RUNS, seed: SEED })
  t.pass(`${RUNS} histories`)
})
