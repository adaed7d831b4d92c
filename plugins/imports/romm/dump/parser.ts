import { SourceError } from '../../contract.ts'
import { isSign, type Reading, TokenStream, wordOf } from './token-stream.ts'
import { type Dialect, readCopyField, type Token } from './tokens.ts'

/** A column as a dump declares it; the type is empty if the dump has no definition of the table. */
export interface Column {
  readonly name: string
  readonly type: string
}

export interface DumpHandlers {
  /** True if the rows of a table are wanted. */
  wants (table: string): boolean
  /** Called before the first row of a table. */
  onTable (table: string, columns: readonly Column[]): void
  onRow (table: string, columns: readonly string[], values: readonly (string | null)[]): void
}

const MAX_COLUMNS = 1_000
/** First words of the parts of CREATE TABLE that are no columns. */
const NO_COLUMNS = new Set(['PRIMARY', 'KEY', 'UNIQUE', 'CONSTRAINT', 'FULLTEXT', 'SPATIAL', 'CHECK', 'INDEX', 'FOREIGN',
  'EXCLUDE', 'LIKE', 'PERIOD'])
const END_OF_COPY = /^\\\.\r?$/
const END_OF_ROUTINES = /^(?:DELIMITER\s)?\s*;\s*$/i

/**
 * Parses the text that `mysqldump`, `mariadb-dump` and plain `pg_dump` write: CREATE TABLE, INSERT and COPY. Other
 * statements are skipped.
 */
export class DumpParser {
  readonly #handlers: DumpHandlers
  readonly #stream: TokenStream
  readonly #definitions = new Map<string, readonly Column[]>()
  readonly #announced = new Set<string>()
  readonly #running: Reading

  constructor (dialect: Dialect, handlers: DumpHandlers) {
    this.#handlers = handlers
    this.#stream = new TokenStream(dialect)
    this.#running = this.#parse()
    this.#running.next()
  }

  /** @throws SourceError for a damaged dump */
  write (chunk: string): void {
    this.#stream.add(chunk)
    this.#running.next()
  }

  /** @throws SourceError if the text ends within a statement */
  end (): void {
    this.#stream.end()
    this.#running.next()
    // A table without rows is known only from its definition.
    for (const [table, columns] of this.#definitions) {
      if (!this.#announced.has(table)) this.#handlers.onTable(table, columns)
    }
  }

  * #parse (): Reading {
    const stream = this.#stream
    for (let token = yield * stream.next(); token !== null; token = yield * stream.next()) {
      if (isSign(token, ';')) continue
      // A command of psql, such as `\connect`.
      if (isSign(token, '\\')) yield * stream.readLine()
      else yield * this.#parseStatement(token)
    }
  }

  * #parseStatement (first: Token): Reading {
    switch (wordOf(first)) {
      case 'INSERT':
      case 'REPLACE':
        return yield * this.#parseInsert()
      case 'COPY':
        return yield * this.#parseCopy()
      case 'CREATE':
        return yield * this.#parseCreate()
      case 'DELIMITER':
        return yield * this.#skipRoutines()
      default:
        yield * this.#stream.skipStatement()
    }
  }

  /** Skips triggers and routines, whose statements end with another delimiter, up to `DELIMITER ;`. */
  * #skipRoutines (): Reading {
    for (let line = yield * this.#stream.readLine(); line !== null; line = yield * this.#stream.readLine()) {
      if (END_OF_ROUTINES.test(line)) return
    }
  }

  /** Returns the first token that is none of the words. */
  * #skipWords (words: readonly string[], first?: Token | null): Reading<Token | null> {
    let token = first === undefined ? yield * this.#stream.next() : first
    while (words.includes(wordOf(token))) token = yield * this.#stream.next()
    return token
  }

  /** Reads `a.b.c` and returns `c`, and the token after it. */
  * #readTableName (first: Token | null): Reading<{ table: string, after: Token | null }> {
    let table = first?.text() ?? ''
    let after = yield * this.#stream.next()
    while (isSign(after, '.')) {
      table = (yield * this.#stream.next())?.text() ?? ''
      after = yield * this.#stream.next()
    }
    return { table, after }
  }

  /** Reads the names of a column list after its opening parenthesis. */
  * #readColumnList (): Reading<string[]> {
    const names: string[] = []
    let token = yield * this.#stream.next()
    while (token !== null && !isSign(token, ')')) {
      if (token.type !== 'sign') names.push(token.text())
      token = yield * this.#stream.next()
    }
    return names
  }

  * #parseCreate (): Reading {
    const kind = yield * this.#skipWords(['TEMPORARY', 'UNLOGGED', 'GLOBAL', 'LOCAL'])
    if (wordOf(kind) !== 'TABLE') return yield * this.#stream.skipAfter(kind)
    const { table, after } = yield * this.#readTableName(yield * this.#skipWords(['IF', 'NOT', 'EXISTS']))
    const isWanted = isSign(after, '(') && this.#handlers.wants(table)
    if (!isWanted) return yield * this.#stream.skipAfter(after)
    const columns = yield * this.#readDefinition()
    if (this.#definitions.has(table)) {
      throw new SourceError(`The dump defines the table ${table} twice. Make a dump of RomM's database alone`)
    }
    this.#definitions.set(table, columns)
    yield * this.#stream.skipStatement()
  }

  /** Reads the columns of CREATE TABLE after its opening parenthesis, up to the closing one. */
  * #readDefinition (): Reading<Column[]> {
    const columns: Column[] = []
    let depth = 1
    let part: Token[] = []
    while (depth > 0) {
      const token = yield * this.#stream.next()
      if (token === null) throw new SourceError('The dump ends in the middle of a table. Copy it again completely')
      if (isSign(token, '(')) depth += 1
      if (isSign(token, ')')) depth -= 1
      if (depth === 0 || (depth === 1 && isSign(token, ','))) {
        columns.push(...toColumn(part))
        part = []
      } else if (part.length < 2) part.push(token)
    }
    if (columns.length > MAX_COLUMNS) {
      throw new SourceError(`A table of the dump has ${columns.length} columns. It is no dump of RomM`)
    }
    return columns
  }

  /** Reports a table before its first row, and returns the names of its columns. */
  #announce (table: string, listed: readonly string[]): readonly string[] {
    const defined = this.#definitions.get(table) ?? listed.map((name) => ({ name, type: '' }))
    if (defined.length === 0) {
      throw new SourceError(`The dump has rows of the table ${table} and no definition of it. Make a dump with definitions`)
    }
    if (!this.#announced.has(table)) this.#handlers.onTable(table, defined)
    this.#announced.add(table)
    return listed.length > 0 ? listed : defined.map(({ name }) => name)
  }

  #emit (table: string, columns: readonly string[], values: readonly (string | null)[]): void {
    if (values.length !== columns.length) {
      throw new SourceError(`A row of the table ${table} has ${values.length} values for ${columns.length} columns: ` +
        'the dump is damaged. Make it again')
    }
    this.#handlers.onRow(table, columns, values)
  }

  * #parseInsert (): Reading {
    const name = yield * this.#readTableName(yield * this.#skipWords(['IGNORE', 'DELAYED', 'LOW_PRIORITY', 'INTO']))
    const hasList = isSign(name.after, '(')
    const listed = hasList ? yield * this.#readColumnList() : []
    const after = yield * this.#skipWords(['OVERRIDING', 'SYSTEM', 'USER', 'VALUE'], hasList ? undefined : name.after)
    if (wordOf(after) !== 'VALUES') return yield * this.#stream.skipAfter(after)
    if (!this.#handlers.wants(name.table)) return yield * this.#stream.skipStatement()
    yield * this.#parseTuples(name.table, this.#announce(name.table, listed))
  }

  * #parseTuples (table: string, columns: readonly string[]): Reading {
    while (true) {
      const before = yield * this.#stream.next()
      if (before === null || isSign(before, ';')) return
      if (isSign(before, ',')) continue
      if (!isSign(before, '(')) return yield * this.#stream.skipStatement()
      this.#emit(table, columns, yield * this.#stream.readTuple())
    }
  }

  * #parseCopy (): Reading {
    const stream = this.#stream
    const { table, after } = yield * this.#readTableName(yield * stream.next())
    const listed = isSign(after, '(') ? yield * this.#readColumnList() : []
    yield * stream.skipStatement()
    yield * stream.readLine()
    const columns = this.#handlers.wants(table) ? this.#announce(table, listed) : null
    for (let line = yield * stream.readLine(); line !== null; line = yield * stream.readLine()) {
      if (END_OF_COPY.test(line)) return
      if (columns !== null) this.#emit(table, columns, line.split('\t').map(readCopyField))
    }
    throw new SourceError(`The dump ends in the middle of the table ${table}. Make it again, or copy it again completely`)
  }
}

/** Returns the column that a part of CREATE TABLE declares; none for keys and conditions. */
function toColumn ([name, type]: readonly Token[]): Column[] {
  const isColumn = name?.type === 'name' || (name?.type === 'word' && !NO_COLUMNS.has(wordOf(name)))
  return isColumn && name !== undefined ? [{ name: name.text(), type: type?.text().toLowerCase() ?? '' }] : []
}
