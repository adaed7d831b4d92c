import type { ImporterContext, RecordKind } from '../../contract.ts'
import type { Folders } from '../files.ts'
import type { Row, TableReader } from '../tables/table-rows.ts'
import { readValues, type Values } from '../values.ts'

/** An open installation of RomM. */
export interface RommSource {
  readonly tables: TableReader
  readonly folders: Folders
  readonly context: ImporterContext
  /** Counts a value that is not understood. */
  noteOdd (table: string, column: string, id: string): void
  /** Adds the counted values to the report. */
  reportOdd (): void
}

export function createSource (tables: TableReader, folders: Folders, context: ImporterContext): RommSource {
  const odd = new Map<string, { count: number, first: string }>()
  const reported = new Set<string>()
  return {
    tables,
    folders,
    context,
    noteOdd (table, column, id) {
      const name = `${table}.${column}`
      const { count = 0, first = id } = odd.get(name) ?? {}
      odd.set(name, { count: count + 1, first })
    },
    reportOdd () {
      for (const [name, { count, first }] of odd) {
        if (reported.has(name)) continue
        reported.add(name)
        context.warn(`${name}: ${count} ${count === 1 ? 'value is' : 'values are'} not understood and left out, ` +
          `the first in the row ${JSON.stringify(first)}`)
      }
      odd.clear()
    }
  }
}

/** A row without a value that its record needs. The message continues after the name of the record. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError'
}

/** @throws UnreadableRecordError for null */
export function need<T> (value: T | null, column: string): T {
  if (value === null) throw new UnreadableRecordError(`its ${column} is missing or not understood`)
  return value
}

/** One table as records of one kind. */
interface Table<Column extends string> {
  readonly kind: RecordKind
  readonly table: string
  readonly columns: readonly Column[]
  /** `id` by default. */
  readonly key?: readonly NoInfer<Column>[]
}

/** Reads a table as records. A row that lacks a needed value is skipped and reported. */
export async function * readRecords<Column extends string, Result> (
  source: RommSource, table: Table<Column>, toRecord: (values: Values<Column>) => Result
): AsyncGenerator<Result> {
  const toRecords = (values: readonly Values<Column>[]) => values.map((value) => () => toRecord(value))
  yield * readBatches(source, table, async (values) => toRecords(values))
}

/** Reads like {@link readRecords}, with a step for each batch of rows that loads what belongs to them. */
export async function * readBatches<Column extends string, Result> (
  source: RommSource, { kind, table, columns, key = [] }: Table<Column>,
  toRecords: (values: readonly Values<Column>[]) => Promise<(() => Result)[]>
): AsyncGenerator<Result> {
  const { tables, context } = source
  const keys: readonly string[] = key.length === 0 ? ['id'] : key
  for await (const rows of tables.read(table, columns, keys)) {
    context.signal.throwIfAborted()
    const ids = rows.map((row: Row) => keys.map((name) => row[name] ?? '').join('/'))
    const values = rows.map((row, index) =>
      readValues(row, (column) => { source.noteOdd(table, column, ids[index] ?? '') }))
    for (const [index, create] of (await toRecords(values)).entries()) {
      const record = attempt(create, (reason) => {
        context.skip({ kind, id: ids[index] ?? null, name: nameOf(rows[index]), reason })
      })
      if (record !== undefined) yield record
    }
  }
  source.reportOdd()
}

function attempt<T> (create: () => T, onUnreadable: (reason: string) => void): T | undefined {
  try {
    return create()
  } catch (err) {
    if (!(err instanceof UnreadableRecordError)) throw err
    onUnreadable(err.message)
    return undefined
  }
}

function nameOf (row: Row | undefined): string | null {
  return row?.username ?? row?.name ?? row?.fs_name ?? row?.file_name ?? row?.title ?? null
}

/** Groups rows by the value of a column. */
export function groupBy<Column extends string> (
  rows: readonly Row<Column>[], column: NoInfer<Column>
): Map<string, Row<Column>[]> {
  return Map.groupBy(rows, (row) => row[column] ?? '')
}

export const TIMES = ['created_at', 'updated_at'] as const
export const timesOf = (values: Values<typeof TIMES[number]>) =>
  ({ created_at: values.time('created_at'), updated_at: values.time('updated_at') })
