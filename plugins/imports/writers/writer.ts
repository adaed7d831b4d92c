import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import type { ImportRecord, RecordKind } from '../contract.ts'
import type { KeptIds } from '../kept-ids.ts'
import type { References } from '../references.ts'

/** The services and settings of one import. */
export interface ImportServices {
  /** The identity of the source. */
  source: string
  app: FastifyInstance
  config: Config
  keptIds: KeptIds
  isDryRun: boolean
  /** Adds a sentence to the report. */
  warn (text: string): void
}

/** Records that are written in one transaction. */
export interface Batch {
  tx: Db
  refs: References
  services: ImportServices
}

/** The row that a record became or was already, or the reason why it is left out. */
export type Stored = { id: number, as: 'new' | 'present' } | Refused

/** A record that was imported before. */
export interface Known<Kind extends RecordKind> { record: ImportRecord<Kind>, id: number, at: Date }

/** Stores the records of a kind. */
export interface Writer<Kind extends RecordKind> {
  kind: Kind
  /** The id under which the row is found by later imports. */
  idOf (record: ImportRecord<Kind>): string
  /** A name for the report. */
  nameOf (record: ImportRecord<Kind>): string | null
  /** @returns one result for each record, in their order */
  write (batch: Batch, records: readonly ImportRecord<Kind>[]): Promise<Stored[]>
  /**
   * Adds what an earlier import could not, because something was not here yet.
   *
   * @returns the ids of the rows that got something, which counts as imported now
   */
  complete? (batch: Batch, known: readonly Known<Kind>[]): Promise<number[]>
}

/** Returns a time as columns store it: in milliseconds. */
export const toTime = (text: string | null): string | null => text === null ? null : new Date(text).toISOString()

/** Returns the two times of a row; a row without times begins now. */
export function toTimes (
  { created_at: created, updated_at: updated }: { created_at: string | null, updated_at: string | null }
): { created_at: string, updated_at: string } {
  const createdAt = toTime(created ?? updated) ?? new Date().toISOString()
  return { created_at: createdAt, updated_at: toTime(updated) ?? createdAt }
}

/** Writes one record after the other, for kinds with few records. */
export const oneByOne = <Item>(write: (batch: Batch, record: Item) => Promise<Stored>) =>
  async (batch: Batch, records: readonly Item[]): Promise<Stored[]> => {
    const stored: Stored[] = []
    for (const record of records) stored.push(await write(batch, record))
    return stored
  }

/** The reason why a record is left out. */
export interface Refused { reason: string }

export const noUser = (id: string | null): Refused => ({
  reason: id === null
    ? 'it belongs to the person who imports; name the user with --user'
    : `its user ${id} was not imported`
})
export const noRom = (id: string): Refused => ({
  reason: `its ROM ${id} is not in the library here; add the file, run svc scan, then import again`
})

/**
 * Inserts the rows of records that have all they refer to.
 *
 * @param present the reason for a row that this server has already
 */
export async function insertResolved<Item, Row extends object> (
  records: readonly Item[], toRow: (record: Item) => { row: Row } | Refused,
  insert: (rows: readonly Row[]) => Promise<(number | null)[]>, present: string
): Promise<Stored[]> {
  const given = records.map(toRow)
  const ids = (await insert(given.flatMap((one) => 'row' in one ? [one.row] : []))).values()
  return given.map((one) => {
    if ('reason' in one) return one
    const id = ids.next().value ?? null
    return id === null ? { reason: present } : { id, as: 'new' }
  })
}
