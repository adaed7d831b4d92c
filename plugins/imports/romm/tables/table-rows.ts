/** One row of a source: every value as the text that the database prints, null for NULL and for missing columns. */
export type Row<Column extends string = string> = Readonly<Record<Column, string | null>>

/** A consistent, read-only look at the tables of one source. */
export interface TableReader {
  /** The kind of source, for the report: `PostgreSQL`, `a dump of MariaDB`. */
  readonly title: string
  hasTable (table: string): boolean
  hasColumn (table: string, column: string): boolean
  /**
   * Reads a table in batches, ordered by its key. A missing table has no rows.
   *
   * @param key the columns that identify a row; `id` by default
   */
  read<Column extends string>(
    table: string, columns: readonly Column[], key?: readonly string[]
  ): AsyncGenerator<Row<Column>[]>
  /** Reads the rows whose column has one of the values, in no particular order. */
  readWhere<Column extends string>(
    table: string, columns: readonly Column[], column: string, values: readonly string[]
  ): Promise<Row<Column>[]>
  close (): Promise<void>
}

/** A connection to one kind of database, as far as reading tables needs it. */
export interface TableConnection {
  readonly title: string
  /** The columns of each table. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>
  quote (name: string): string
  /** Returns the placeholder of the n-th value, counted from 1. */
  placeholder (n: number): string
  query (sql: string, values: readonly string[], maxRows: number): Promise<Readonly<Record<string, string | null>>[]>
  close (): Promise<void>
}

/** Rows of one query. One row of RomM with the metadata of all providers rarely exceeds 100 KiB. */
const BATCH_ROWS = 500
/** Values of one `in` list. */
const BATCH_VALUES = 500
/** Children of one batch: 500 ROMs of the largest folders. A server that sends more is broken or hostile. */
const MAX_CHILDREN = 5_000_000

/** Creates the reader of a connection. Batches are ranges of the key, so that no query holds a cursor open. */
export function createTableReader (connection: TableConnection): TableReader {
  const { quote, placeholder } = connection
  const columnsOf = (table: string) => connection.columns.get(table) ?? new Set<string>()

  const select = (table: string, columns: readonly string[]) =>
    `select ${columns.map(quote).join(', ')} from ${quote(table)}`

  async function * read<Column extends string> (
    table: string, columns: readonly Column[], key: readonly string[] = ['id']
  ): AsyncGenerator<Row<Column>[]> {
    const known = columnsOf(table)
    if (key.some((name) => !known.has(name))) return
    const selected = [...new Set([...key, ...columns])].filter((name) => known.has(name))
    const order = `order by ${key.map(quote).join(', ')} limit ${BATCH_ROWS}`
    let last: string[] = []
    while (true) {
      const where = last.length === 0 ? '' : `where ${after(key)}`
      const sql = `${select(table, selected)} ${where} ${order}`
      const rows = await connection.query(sql, repeatKey(last), BATCH_ROWS)
      const final = rows.at(-1)
      if (final === undefined) return
      yield rows.map((row) => toRow(row, columns))
      if (rows.length < BATCH_ROWS) return
      last = key.map((name) => final[name] ?? '')
    }
  }

  /** Returns `(a > ?) or (a = ? and b > ?)`, which databases answer from the index, unlike `(a, b) > (?, ?)`. */
  function after (key: readonly string[]): string {
    let count = 0
    const next = () => placeholder(++count)
    return key.map((name, index) => {
      const equal = key.slice(0, index).map((former) => `${quote(former)} = ${next()}`)
      return `(${[...equal, `${quote(name)} > ${next()}`].join(' and ')})`
    }).join(' or ')
  }

  async function readWhere<Column extends string> (
    table: string, columns: readonly Column[], column: string, values: readonly string[]
  ): Promise<Row<Column>[]> {
    const known = columnsOf(table)
    if (!known.has(column)) return []
    const selected = [...new Set([column, ...columns])].filter((name) => known.has(name))
    const found: Row<Column>[] = []
    for (let start = 0; start < values.length; start += BATCH_VALUES) {
      const part = values.slice(start, start + BATCH_VALUES)
      const list = part.map((_, index) => placeholder(index + 1)).join(', ')
      const sql = `${select(table, selected)} where ${quote(column)} in (${list})`
      for (const row of await connection.query(sql, part, MAX_CHILDREN)) found.push(toRow(row, columns))
    }
    return found
  }

  return {
    title: connection.title,
    hasTable: (table) => connection.columns.has(table),
    hasColumn: (table, column) => columnsOf(table).has(column),
    read,
    readWhere,
    close: () => connection.close()
  }
}

/** Returns the values for the condition of `after`: of each column, those of the columns before it too. */
function repeatKey (last: readonly string[]): string[] {
  return last.flatMap((_, index) => last.slice(0, index + 1))
}

/** Turns an object into a row of text, with null for what it lacks. */
export function toRow<Column extends string> (
  item: Readonly<Record<string, unknown>>, columns: readonly Column[]
): Row<Column> {
  return Object.fromEntries(columns.map((name) => [name, toText(item[name])])) as Record<Column, string | null>
}

function toText (value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}
