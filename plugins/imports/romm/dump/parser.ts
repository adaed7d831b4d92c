import { readCopyField, readToken, type Dialect, type Token } from './tokens.ts'

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

export interface DumpParser {
  write (chunk: string): void
  /** @throws DumpError if the text ends within a statement. */
  end (): void
}

/** A dump that is no SQL, is cut short or is damaged. */
export class DumpError extends Error {
  override readonly name = 'DumpError'
}

/** The most characters of one row or statement head. The longest rows of RomM hold a megabyte of metadata. */
const MAX_PENDING = 64 * 1024 * 1024
const MAX_COLUMNS = 1_000
/** First words of the parts of CREATE TABLE that are no columns. */
const NO_COLUMNS = new Set(['PRIMARY', 'KEY', 'UNIQUE', 'CONSTRAINT', 'FULLTEXT', 'SPATIAL', 'CHECK', 'INDEX', 'FOREIGN',
  'EXCLUDE', 'LIKE', 'PERIOD'])
const END_OF_COPY = /^\\\.\r?$/

/**
 * Creates a parser of the text that `mysqldump`, `mariadb-dump` and plain `pg_dump` write: CREATE TABLE, INSERT and
 * COPY. Other statements are skipped. Memory holds one row at a time.
 */
export function createDumpParser (dialect: Dialect, handlers: DumpHandlers): DumpParser {
  const definitions = new Map<string, readonly Column[]>()
  const announced = new Set<string>()
  let text = ''
  let at = 0
  let isLast = false

  /** Waits for more text. @throws DumpError at the end of the dump, and for a row without end */
  function * wait (): Generator<undefined, void> {
    if (isLast) throw new DumpError('The dump ends in the middle of a statement. Make it again, or copy it again completely')
    if (text.length - at > MAX_PENDING) {
      throw new DumpError(`A row or statement of the dump has more than ${MAX_PENDING} characters. Make the dump again with ` +
        'mysqldump, mariadb-dump or pg_dump')
    }
    yield
  }

  /** Reads the next token that is no space; null at the end of the dump. */
  function * next (): Generator<undefined, Token | null> {
    while (true) {
      const token = at === text.length ? null : readToken(text, at, dialect, isLast)
      if (token === null) {
        if (isLast && at === text.length) return null
        yield * wait()
      } else {
        at = token.end
        if (token.type !== 'space') return token
      }
    }
  }

  const isSign = (token: Token | null, sign: string) => token?.type === 'sign' && token.text() === sign
  const wordOf = (token: Token | null) => token?.type === 'word' ? token.text().toUpperCase() : ''

  function * parse (): Generator<undefined, void> {
    for (let token = yield * next(); token !== null; token = yield * next()) {
      if (isSign(token, ';')) continue
      if (isSign(token, '\\')) yield * skipLine()
      else yield * parseStatement(token)
    }
  }

  function * parseStatement (first: Token): Generator<undefined, void> {
    switch (wordOf(first)) {
      case 'INSERT':
      case 'REPLACE':
        return yield * parseInsert()
      case 'COPY':
        return yield * parseCopy()
      case 'CREATE':
        return yield * parseCreate()
      case 'DELIMITER':
        return yield * skipRoutines()
      default:
        yield * skipStatement()
    }
  }

  function * skipStatement (): Generator<undefined, void> {
    for (let token = yield * next(); token !== null; token = yield * next()) if (isSign(token, ';')) return
  }

  /** Reads to the end of the line; null at the end of the dump. */
  function * readLine (): Generator<undefined, string | null> {
    let end = text.indexOf('\n', at)
    while (end === -1 && !isLast) { // eslint-disable-line no-unmodified-loop-condition -- end() sets it meanwhile
      yield * wait()
      end = text.indexOf('\n', at)
    }
    if (end === -1 && at === text.length) return null
    const line = text.slice(at, end === -1 ? text.length : end)
    at = end === -1 ? text.length : end + 1
    return line
  }

  function * skipLine (): Generator<undefined, void> {
    yield * readLine()
  }

  /** Skips triggers and routines, whose statements end with another delimiter, up to `DELIMITER ;`. */
  function * skipRoutines (): Generator<undefined, void> {
    for (let line = yield * readLine(); line !== null; line = yield * readLine()) {
      if (/^(?:DELIMITER\s)?\s*;\s*$/i.test(line)) return
    }
  }

  /** Reads `a.b.c` and returns `c`, and the token after it. */
  function * readTableName (first: Token | null): Generator<undefined, { table: string, after: Token | null }> {
    let table = first?.text() ?? ''
    let after = yield * next()
    while (isSign(after, '.')) {
      table = (yield * next())?.text() ?? ''
      after = yield * next()
    }
    return { table, after }
  }

  /** Reads the names of a column list after its opening parenthesis. */
  function * readColumnList (): Generator<undefined, string[]> {
    const names: string[] = []
    for (let token = yield * next(); token !== null && !isSign(token, ')'); token = yield * next()) {
      if (token.type !== 'sign') names.push(token.text())
    }
    return names
  }

  function * parseCreate (): Generator<undefined, void> {
    let token = yield * next()
    while (['TEMPORARY', 'UNLOGGED', 'GLOBAL', 'LOCAL'].includes(wordOf(token))) token = yield * next()
    if (wordOf(token) !== 'TABLE') return isSign(token, ';') ? undefined : yield * skipStatement()
    token = yield * next()
    while (['IF', 'NOT', 'EXISTS'].includes(wordOf(token))) token = yield * next()
    const { table, after } = yield * readTableName(token)
    if (!isSign(after, '(')) return isSign(after, ';') ? undefined : yield * skipStatement()
    const columns = yield * readDefinition()
    if (definitions.has(table) && handlers.wants(table)) {
      throw new DumpError(`The dump defines the table ${table} twice. Make a dump of RomM's database alone`)
    }
    definitions.set(table, columns)
    yield * skipStatement()
  }

  /** Reads the columns of CREATE TABLE after its opening parenthesis, up to the closing one. */
  function * readDefinition (): Generator<undefined, Column[]> {
    const columns: Column[] = []
    let depth = 1
    let part: Token[] = []
    while (depth > 0) {
      const token = yield * next()
      if (token === null) throw new DumpError('The dump ends in the middle of a table. Copy it again completely')
      if (isSign(token, '(')) depth += 1
      if (isSign(token, ')')) depth -= 1
      if (depth === 0 || (depth === 1 && isSign(token, ','))) {
        const [name, type] = part
        if (name?.type === 'name' || (name?.type === 'word' && !NO_COLUMNS.has(wordOf(name)))) {
          columns.push({ name: name.text(), type: type?.text().toLowerCase() ?? '' })
        }
        part = []
      } else if (part.length < 2) part.push(token)
    }
    if (columns.length > MAX_COLUMNS) throw new DumpError(`A table of the dump has ${columns.length} columns. It is no dump of RomM`)
    return columns
  }

  /** Tells the handlers of a table before its first row, and returns the names of its columns. */
  function announce (table: string, listed: readonly string[]): readonly string[] {
    const defined = definitions.get(table) ?? listed.map((name) => ({ name, type: '' }))
    if (defined.length === 0) {
      throw new DumpError(`The dump has rows of the table ${table} and no definition of it. Make a dump with definitions`)
    }
    if (!announced.has(table)) handlers.onTable(table, defined)
    announced.add(table)
    return listed.length > 0 ? listed : defined.map(({ name }) => name)
  }

  function emit (table: string, columns: readonly string[], values: readonly (string | null)[]) {
    if (values.length !== columns.length) {
      throw new DumpError(`A row of the table ${table} has ${values.length} values for ${columns.length} columns: the dump is damaged. ` +
        'Make it again')
    }
    handlers.onRow(table, columns, values)
  }

  function * parseInsert (): Generator<undefined, void> {
    let token = yield * next()
    while (['IGNORE', 'DELAYED', 'LOW_PRIORITY', 'INTO'].includes(wordOf(token))) token = yield * next()
    const name = yield * readTableName(token)
    let after = name.after
    let listed: string[] = []
    if (isSign(after, '(')) {
      listed = yield * readColumnList()
      after = yield * next()
    }
    while (['OVERRIDING', 'SYSTEM', 'USER', 'VALUE'].includes(wordOf(after))) after = yield * next()
    if (wordOf(after) !== 'VALUES') return isSign(after, ';') ? undefined : yield * skipStatement()
    if (!handlers.wants(name.table)) return yield * skipStatement()
    yield * parseTuples(name.table, announce(name.table, listed))
  }

  function * parseTuples (table: string, columns: readonly string[]): Generator<undefined, void> {
    while (true) {
      const before = yield * next()
      if (before === null || isSign(before, ';')) return
      if (isSign(before, ',')) continue
      if (!isSign(before, '(')) return yield * skipStatement()
      let tuple = readTuple()
      while (tuple === null) {
        yield * wait()
        tuple = readTuple()
      }
      emit(table, columns, tuple)
    }
  }

  /** Reads the values up to the closing parenthesis; null, at the same position, if the text ends before it. */
  function readTuple (): (string | null)[] | null {
    const values: (string | null)[] = []
    let value: string | null | undefined
    let depth = 1
    let position = at
    while (true) {
      const token = position === text.length ? null : readToken(text, position, dialect, isLast)
      if (token === null) return null
      position = token.end
      if (token.type === 'sign') {
        const sign = token.text()
        if (sign === '(') depth += 1
        if (sign === ')') depth -= 1
        if (depth === 0 || (depth === 1 && sign === ',')) {
          values.push(value ?? null)
          value = undefined
        }
        if (depth === 0) {
          at = position
          return values
        }
      } else if (value === undefined && token.type !== 'space') value = readValue(token)
    }
  }

  function * parseCopy (): Generator<undefined, void> {
    const { table, after } = yield * readTableName(yield * next())
    const listed = isSign(after, '(') ? yield * readColumnList() : []
    yield * skipStatement()
    yield * skipLine()
    const columns = handlers.wants(table) ? announce(table, listed) : null
    for (let line = yield * readLine(); line !== null; line = yield * readLine()) {
      if (END_OF_COPY.test(line)) return
      if (columns !== null) emit(table, columns, line.split('\t').map(readCopyField))
    }
    throw new DumpError(`The dump ends in the middle of the table ${table}. Make it again, or copy it again completely`)
  }

  const running = parse()
  running.next()
  return {
    write (chunk) {
      text = text.slice(at) + chunk
      at = 0
      running.next()
    },
    end () {
      isLast = true
      running.next()
      // A table without rows is known only from its definition.
      for (const [table, columns] of definitions) {
        if (!announced.has(table) && handlers.wants(table)) handlers.onTable(table, columns)
      }
    }
  }
}

/** Returns a value of INSERT as text; undefined for a word before the value, such as `_binary`. */
function readValue (token: Token): string | null | undefined {
  const text = token.text()
  if (token.type !== 'word') return text
  if (text.startsWith('_')) return undefined
  if (/^(?:null|default)$/i.test(text)) return null
  return /^0x[0-9a-f]+$/i.test(text) ? Buffer.from(text.slice(2), 'hex').toString() : text
}
