import fc from 'fast-check'
import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { History, type Step, histories } from './histories.ts'
import type { Fault } from './retroarch.ts'

const RUNS = Number(process.env.SOAK_ROUNDS ?? 6)
const sync = (device: number, faults: Fault[] = []): Step => ({ kind: 'sync', device, faults, choice: 'none' })
const write = (device: number): Step => ({ kind: 'write', device, path: 0 })
/** Histories that once failed; they are always replayed. */
const EXAMPLES: [Step[]][] = [
  // A device never got the response of a fetch, and then made a file of that path.
  [[
    { kind: 'write', device: 1, path: 1 }, sync(1), sync(0, ['lost']), { kind: 'write', device: 0, path: 1 }
  ]],
  // A device never got the response of an upload, and then changed its file.
  [[write(0), sync(0, ['lost']), write(0)]],
  // The server went back to the content that a device in a conflict had sent before.
  [[
    write(0), sync(0), sync(1), write(1), sync(1), write(0), sync(0), { kind: 'return', device: 1, path: 0, pick: 0 }, sync(1)
  ]],
  // A device went back to an older content, and its user played on from that before its next sync.
  [[write(0), write(0), sync(0), sync(1), { kind: 'return', device: 0, path: 0, pick: 0 }, write(0), sync(0)]]
]

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
