import { fork } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { createTestDatabase } from '../support.ts'
import { connect, entriesOf, listTables, open, scope } from './plugin-index-support.ts'

t.test('a killed build keeps the former index, and the next build cleans up', async (t) => {
  const databaseUrl = await createTestDatabase(t)
  const db = await connect(t, databaseUrl)
  const index = open(db, entriesOf(['a', 'old']))
  await index.rebuild(scope)
  const child = fork(new URL('index-builder.ts', import.meta.url), [databaseUrl], { execArgv: ['--conditions=svc:source'] })
  await once(child, 'message')
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.equal((await listTables(db)).length, 2, 'the killed build had begun')
  t.same((await index.getMany(['a'])).get('a'), ['old'])
  t.same((await open(db, entriesOf()).getMany(['a'])).get('a'), ['old'], 'also after a restart')
  await index.rebuild(scope)
  t.equal((await listTables(db)).length, 1)
})
