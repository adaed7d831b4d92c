import type { CompiledQuery, RawBuilder } from 'kysely'
import { createLruCache } from '../lru-cache.ts'
import type { Db } from './db.ts'

/** The name of a value that each run of a compiled statement supplies anew. */
class Place {
  readonly name: string

  constructor (name: string) {
    this.name = name
  }
}

/** Returns the parameter of a template whose value each run supplies. */
export type PlaceOf<Name extends string> = (name: Name) => Place

/**
 * Builds the text of a statement once for each key. A request that reads one ROM takes a sixth less processor time in
 * this way.
 */
export class CompiledStatements<Row extends object, Name extends string> {
  readonly #statements

  /** @param max the most texts that are kept */
  constructor (max: number) {
    this.#statements = createLruCache<string, CompiledQuery<Row>>({ max })
  }

  /**
   * Runs a statement and returns its rows.
   *
   * @param key names everything that the template depends on, other than the values
   * @param template called if no text is kept for the key
   */
  async run (
    db: Db, key: string, values: Readonly<Record<Name, unknown>>, template: (placeOf: PlaceOf<Name>) => RawBuilder<Row>
  ): Promise<Row[]> {
    const { sql, parameters } = this.#statements.get(key) ?? this.#compile(db, key, template)
    const named: Readonly<Record<string, unknown>> = values
    const all = parameters.map((value) => value instanceof Place ? named[value.name] : value)
    return (await db.query<Row>(sql, all)).rows
  }

  #compile (db: Db, key: string, template: (placeOf: PlaceOf<Name>) => RawBuilder<Row>): CompiledQuery<Row> {
    const statement = template((name) => new Place(name)).compile(db)
    this.#statements.set(key, statement)
    return statement
  }
}
