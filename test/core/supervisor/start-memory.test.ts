import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { releaseStartMemory } from '../../../core/supervisor/start-memory.ts'
import { until } from '../../until.ts'

const STEADY_MS = 20
/** The collection exposes itself to new contexts. */
const hasCollected = () => runInNewContext('typeof gc') === 'function'

t.test('the memory of a start is released when the process is idle, not before', async (t) => {
  releaseStartMemory(() => false, STEADY_MS)
  for (const end = performance.now() + 5 * STEADY_MS; performance.now() < end;) await setImmediate()
  t.notOk(hasCollected(), 'it works')
  t.ok(await until(hasCollected, 'a collection'), 'it is idle')
})
