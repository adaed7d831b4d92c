import { sql } from 'kysely'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'

/** A record that an earlier import stored. */
export interface Imported { new_id: number, created_at: Date }

/** Finds the records of a kind that were imported before. */
export async function selectImported (
  db: Db, source: string, kind: string, oldIds: readonly string[]
): Promise<Map<string, Imported>> {
  const { rows } = await db.query<Imported & { old_id: string }>(`select old_id, new_id, created_at from imported_ids
    where source = $1 and kind = $2 and old_id = any($3::text[])`, [source, kind, oldIds])
  return new Map(rows.map(({ old_id: oldId, new_id: id, created_at: at }) =>
    [oldId, { new_id: id, created_at: new Date(at) }]))
}

/** Stores the new ids of imported records. */
export async function insertImported (
  tx: Db, source: string, records: readonly { kind: string, old_id: string, new_id: number }[]
): Promise<void> {
  if (records.length === 0) return
  await tx.query(`insert into imported_ids (source, kind, old_id, new_id) select $1, g.kind, g.old_id, g.new_id
    from jsonb_to_recordset($2::jsonb) as g(kind text, old_id text, new_id int) on conflict do nothing`,
  [source, toDatabaseJson(records)])
}

/** Marks rows as imported now, so that what a person removes from them later stays removed. */
export async function touchImported (tx: Db, source: string, kind: string, newIds: readonly number[]): Promise<void> {
  if (newIds.length === 0) return
  await tx.query('update imported_ids set created_at = now() where source = $1 and kind = $2 and new_id = any($3::int[])',
    [source, kind, newIds])
}

/**
 * Returns the last id that a table had given when the first import of a source began. Later ids were free at that
 * time, so records of the source can keep theirs.
 */
export async function storeLastId (db: Db, source: string, table: string, lastId: number): Promise<number> {
  await insertImported(db, source, [{ kind: 'last_id', old_id: table, new_id: lastId }])
  return (await selectImported(db, source, 'last_id', [table])).get(table)?.new_id ?? lastId
}

/** Returns the ids that rows of a table have. */
export async function selectUsedIds (db: Db, table: string, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await db.query<{ id: number }>(`select id from ${table} where id = any($1::int[])`, [ids])
  return new Set(rows.map(({ id }) => id))
}

/** Stores the report of a running or ended import. */
export async function upsertRun (
  db: Db, run: { id: string, importer: string, dry_run: boolean }, report: object
): Promise<void> {
  await db.query(`insert into import_runs (id, importer, dry_run, report) values ($1::uuid, $2, $3, $4::jsonb)
    on conflict (id) do update set report = excluded.report, updated_at = now()`,
  [run.id, run.importer, run.dry_run, toDatabaseJson(report)])
}

/** An import with its report, without the names and sentences in it. */
interface ListedRun { id: string, importer: string, dry_run: boolean, created_at: number, report: object }

/** Selects imports, newest first. */
export async function selectRuns (db: Db, limit: number): Promise<ListedRun[]> {
  const { rows } = await sql<ListedRun>`select id, importer, dry_run, report - 'skipped' - 'warnings' as report,
    ${selectMilliseconds('created_at')} as created_at from import_runs order by import_runs.created_at desc limit ${limit}`.execute(db)
  return rows
}

/** Makes the next id of a table one after this one, unless it is later already. */
export async function advanceIds (tx: Db, table: string, id: number): Promise<void> {
  await tx.query(`select setval(pg_get_serial_sequence('${table}', 'id'),
    greatest($1::bigint, (select coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', 'id')::regclass), 1))))`, [id])
}

/** Lets a transaction wait for the source between two statements, however long that takes. */
export async function allowIdleTransaction (tx: Db): Promise<void> {
  await tx.query('set local idle_in_transaction_session_timeout = 0')
}
