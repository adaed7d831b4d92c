import type { CompiledQuery, RawBuilder } from 'kysely'
import { createLruCache } from '../lru-cache.ts'
import type { Db } from './db.ts'

/** A parameter of a compiled statement; each run supplies its value. */
class Placeholder {
  readonly name: string

  constructor (name: string) {
    this.name = name
  }
}

/** Returns the placeholder of a template for a value that each run supplies. */
export type PlaceholderOf<Name extends string> = (name: Name) => Placeholder
type Template<Row extends object, Name extends string> = (placeholderOf: PlaceholderOf<Name>) => RawBuilder<Row>

/**
 * Builds the text of a statement once for each key. A request that reads one ROM takes a sixth less processor time in
 * this way.
 */
export class CompiledStatements<Row extends object, Name extends string> {
  readonly #statements

  /** @param max the most cached texts */
  constructor (max: number) {
    this.#statements = createLruCache<string, CompiledQuery<Row>>({ max })
  }

  /**
   * Runs a statement and returns its rows.
   *
   * @param key names everything that the template depends on, other than the values
   * @param template called if no text is cached for the key
   */
  async run (
    db: Db, key: string, values: Readonly<Record<Name, unknown>>, template: Template<Row, Name>
  ): Promise<Row[]> {
    const { sql, parameters } = this.#statements.get(key) ?? this.#compile(db, key, template)
    const named: Readonly<Record<string, unknown>> = values
    const all = parameters.map((value) => value instanceof Placeholder ? named[value.name] : value)
    return (await db.query<Row>(sql, all)).rows
  }

  #compile (db: Db, key: string, template: Template<Row, Name>): CompiledQuery<Row> {
    const statement = template((name) => new Placeholder(name)).compile(db)
    this.#statements.set(key, statement)
    return statement
  }
}
