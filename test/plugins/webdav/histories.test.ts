import fc from 'fast-check'
import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { History, type Step, histories } from './histories.ts'

const RUNS = Number(process.env.SOAK_ROUNDS ?? 6)
/** Histories that once failed; they are always replayed. */
const EXAMPLES: [Step[]][] = []

const test = await buildTestApp(t, { env: { ASSET_VERSIONS_KEPT: '1000' } })
let count = 0

async function play (steps: readonly Step[]): Promise<void> {
  await test.app.pg.query('delete from roms')
  const history = new History(test, await test.createUser(`user${count++}`))
  await history.start()
  try {
    await history.check(steps)
  } finally {
    history.close()
  }
}

t.test('no history of RetroArch and others loses a save or brings back an older one', async (t) => {
  await fc.assert(fc.asyncProperty(histories, play), { numRuns: RUNS, examples: EXAMPLES })
  t.pass('all histories')
})
