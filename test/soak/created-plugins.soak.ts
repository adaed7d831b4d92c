import { join } from 'node:path'
import t from 'tap'
import { KINDS, addCreated, createTested, seeListed } from '../core/created-plugin.ts'
import { settings } from '../e2e/server.ts'

t.test('plugins of every kind that were created pass their own tests and are listed together, without another edit', async (t) => {
  const folder = t.testdir({})
  const env = settings(join(folder, 'data'))
  for (const kind of KINDS) {
    await createTested(t, kind, join(folder, kind), env)
    await addCreated(t, kind, join(folder, kind), env)
  }
  await seeListed(t, KINDS, env)
})
