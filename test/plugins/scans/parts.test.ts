import t from 'tap'
import { resetScripts } from '../fixtures/script.ts'
import { startWorker } from './support.ts'
import { ROMS, alpha, blockParts, build, readRoms, waitForHolders } from './parts-support.ts'

t.beforeEach(resetScripts)

t.test('two scan workers share a library scan and end it with one report', async (t) => {
  const test = await build(t)
  await startWorker(t, test, ['alpha'])
  await startWorker(t, test, ['alpha'])
  const release = await blockParts(t, test)
  const id = await test.start({ apis: ['alpha'] })
  await waitForHolders(test, 2)
  await release()
  const task = await test.finished(id)
  t.match(task, {
    status: 'finished',
    meta: {
      scan_stats: {
        total_platforms: 4, total_roms: ROMS, scanned_platforms: 4, new_platforms: 4, scanned_roms: ROMS,
        new_roms: ROMS, new_files: ROMS, identified_roms: ROMS, updated_roms: 0, failed_lookups: 0
      },
      problems: []
    }
  })
  const roms = await readRoms(test)
  t.equal(roms.length, ROMS)
  t.ok(roms.every((rom) => rom.is_identified && rom.sha1_hash !== ''))
  t.equal(new Set(alpha.calls.map(({ rom }) => rom)).size, alpha.calls.length, 'each ROM is looked up once')
  t.strictSame(await test.sql('select from scan_parts'), [], 'no part remains')
})
