import type { Db } from './db.ts'
import { toDatabaseJson } from './json.ts'

/** A table with an integer `id`, and the types of the columns that are written. */
export interface InsertTable<Column extends string = string> {
  readonly name: string
  readonly columns: Readonly<Record<Column, string>>
}

/** Values of a row by column. An absent or null id is the next one of the table. */
export type InsertRow<Column extends string> = { readonly id?: number | null } & { readonly [Name in Column]: unknown }

/**
 * Inserts many rows with one statement. A row that breaks a unique constraint is left out.
 *
 * @returns the id of each row, in their order; null for a row that was left out
 */
export async function insertRows<Column extends string> (
  tx: Db, { name, columns }: InsertTable<Column>, rows: readonly InsertRow<Column>[]
): Promise<(number | null)[]> {
  if (rows.length === 0) return []
  const names = Object.keys(columns).join(', ')
  // A JSON null would become a value of a `jsonb` column; an absent one is null in every column.
  const withoutNulls = (row: object) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
  const declared = Object.entries(columns).map(([column, type]) => `${column} ${String(type)}`).join(', ')
  const { rows: [given] } = await tx.query<{ ids: number[] }>(`select array_agg(coalesce(g.id,
      nextval(pg_get_serial_sequence('${name}', 'id'))::int) order by g.place) as ids
    from unnest($1::int[]) with ordinality as g (id, place)`, [rows.map(({ id }) => id ?? null)])
  const ids = given?.ids ?? []
  const { rows: inserted } = await tx.query<{ id: number }>(`insert into ${name} (id, ${names})
    select id, ${names} from jsonb_to_recordset($1::jsonb) as g(id int, ${declared}) order by id
    on conflict do nothing returning id`, [toDatabaseJson(rows.map((row, place) => ({ ...withoutNulls(row), id: ids[place] })))])
  const written = new Set(inserted.map(({ id }) => id))
  return ids.map((id) => written.has(id) ? id : null)
}

/** Returns the function that inserts rows into a table, as {@link insertRows} does. */
export const createInsert = <Column extends string>(table: InsertTable<Column>) =>
  (tx: Db, rows: readonly InsertRow<Column>[]): Promise<(number | null)[]> => insertRows(tx, table, rows)

/** Returns the highest id that a table ever gave; 0 if it never gave one. */
export async function findLastId (db: Db, name: string): Promise<number> {
  const { rows } = await db.query<{ last: number }>(
    `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('${name}', 'id')::regclass), 0)::int as last`)
  return rows[0]?.last ?? 0
}
