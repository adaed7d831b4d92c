import type { IndexEntry } from '@svc/plugin-sdk'
import type { Test } from 'tap'
import type { Db } from '../../core/database/db.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import type { ReadIndexEntries } from '../../core/loader/search-index/index-build.ts'
import { createIndex } from '../../core/loader/search-index/plugin-index.ts'
import { openDb } from '../open-db.ts'

export const scope = {
  signal: new AbortController().signal, memo: createMemo(), preferences: { regions: [], languages: [], media: [] }
}

export async function connect (t: Test, databaseUrl: string): Promise<Db> {
  const { db, close } = await openDb(databaseUrl, 4)
  t.teardown(close)
  // A reused database is reset only by deleting rows.
  for (const table of await listTables(db)) await db.query(`drop table "${table}"`)
  return db
}
export const entriesOf = (...entries: IndexEntry[]): ReadIndexEntries => async function * () { yield entries }
export const open = (db: Db, build: ReadIndexEntries, plugin = 'provider/demo') => createIndex(db, plugin, build, () => scope)

export const listTables = async (db: Db) => (await db.query<{ tablename: string }>(
  "select tablename from pg_tables where tablename like 'plugin_index\\_%' order by 1")).rows.map((row) => row.tablename)
