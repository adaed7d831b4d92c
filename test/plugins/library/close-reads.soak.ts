import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { openLongReads } from '../../../plugins/library/long-reads.ts'
import { buildTestApp } from '../../support.ts'

t.test('a server that closes waits for a list whose connection is being opened', async (t) => {
  const { app } = await buildTestApp(t)
  const { reads, close } = openLongReads(app, 'svc lists')
  const readOne = async () => (await sql`select 1 as number`.execute(reads)).rows
  await readOne()
  const both = Promise.all([readOne(), readOne()])
  // The second statement begins to open a connection.
  await setImmediate()
  await close()
  t.same(await both, [[{ number: 1 }], [{ number: 1 }]])
  await t.rejects(readOne(), /after calling end/)
})
