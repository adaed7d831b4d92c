import { createMemo } from '../../core/loader/calls/memo.ts'
import { createIndex } from '../../core/loader/search-index/plugin-index.ts'
import { openDb } from '../open-db.ts'

/** Builds an index that never ends; tells its parent when rows are stored. */
const { db } = await openDb(process.argv[2] ?? '')
const scope = {
  signal: new AbortController().signal, memo: createMemo(), preferences: { regions: [], languages: [], media: [] },
  report () { process.send?.('stored') }
}
const index = createIndex(db, 'provider/demo', async function * () {
  for (let row = 0; ; row++) yield [[`a ${row}`, 'new'], ['a', 'new']]
}, () => scope)
await index.rebuild(scope)
