import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { ImportRecord, Importer, RecordKind, Skipped } from './contract.ts'
import { readBatches } from './read-records.ts'
import { createReferences } from './references.ts'
import type { Report } from './report.ts'
import { type Imported, insertImported, selectImported, touchImported } from './rows.ts'
import type { Batch, ImportServices, Stored, Writer } from './writers/writer.ts'

/** One import on one handle of the database. */
export interface ImportContext {
  db: Db
  importer: Importer
  report: Report
  signal: AbortSignal
  services: ImportServices
  /** The user of records without one. */
  userId: number | null
  /** Stores the report while the import runs. */
  onProgress (current: string): Promise<void>
}

/** Stores the files of records after their batch is committed. @returns the files that were left out */
type AfterBatch<Kind extends RecordKind> =
  (batch: Batch, records: readonly ImportRecord<Kind>[], signal: AbortSignal) => Promise<Skipped[]>

/** True for an error that PostgreSQL gives a value: of its type, of a constraint, or too long for an index. */
const isOfValue = (err: unknown) =>
  err instanceof Error && 'code' in err && typeof err.code === 'string' && /^(?:2[23]|54)/.test(err.code)

export const toBatch = ({ services, userId }: ImportContext, tx: Db): Batch =>
  ({ tx, services, refs: createReferences(tx, services.source, userId) })

/** Writes records in one transaction. A record that the database refuses is left out, and the others are written. */
async function writeGuarded<Kind extends RecordKind> (
  context: ImportContext, tx: Db, writer: Writer<Kind>, records: readonly ImportRecord<Kind>[]
): Promise<Stored[]> {
  const { app } = context.services
  try {
    return await tx.transact((part) => writer.write(toBatch(context, part), records))
  } catch (err) {
    if (!isOfValue(err)) throw err
    // Not the whole error, whose details repeat the values of a row.
    const reason = err instanceof Error ? err.message : ''
    app.log.warn({ reason, kind: writer.kind, records: records.length }, 'the database refused records of an import')
    if (records.length === 1) return [{ reason: `the database refused it: ${reason}` }]
  }
  const stored: Stored[] = []
  for (const record of records) stored.push(...await writeGuarded(context, tx, writer, [record]))
  return stored
}

/**
 * Returns the id under which the row of a record is found again. Two users may import the same records without a user,
 * such as those of a gamelist.
 */
function keyOf<Kind extends RecordKind> (
  { userId }: ImportContext, writer: Writer<Kind>, record: ImportRecord<Kind>
): string {
  const isOfNamedUser = writer.kind !== 'hidden' && 'user_id' in record && record.user_id === null
  return isOfNamedUser && userId !== null ? `${writer.idOf(record)}@${userId}` : writer.idOf(record)
}

const toKnown = <Kind extends RecordKind>(record: ImportRecord<Kind>, imported: Imported | undefined) =>
  imported === undefined ? [] : [{ record, id: imported.new_id, at: imported.created_at }]

/** Stores the new records of a batch and their ids in one transaction. */
async function storeBatch<Kind extends RecordKind> (
  context: ImportContext, writer: Writer<Kind>, records: readonly ImportRecord<Kind>[]
) {
  const { db, services: { source } } = context
  const { kind } = writer
  return await inTransaction(db, async (tx) => {
    const imported = await selectImported(tx, source, kind, records.map((record) => keyOf(context, writer, record)))
    const open = records.filter((record) => !imported.has(keyOf(context, writer, record)))
    const stored = open.length === 0 ? [] : await writeGuarded(context, tx, writer, open)
    const ids = stored.flatMap((one, index) => {
      const record = open[index]
      return 'reason' in one || record === undefined ? [] : [{ kind, old_id: keyOf(context, writer, record), new_id: one.id }]
    })
    await insertImported(tx, source, ids)
    const known = records.flatMap((record) => toKnown(record, imported.get(keyOf(context, writer, record))))
    const completed = known.length === 0 ? [] : await writer.complete?.(toBatch(context, tx), known) ?? []
    await touchImported(tx, source, kind, completed)
    return { open, stored, known: known.length }
  })
}

/** Imports all records of a kind. */
export async function importKind<Kind extends RecordKind> (
  context: ImportContext, writer: Writer<Kind>, after?: AfterBatch<Kind>
): Promise<void> {
  const { importer, report, signal, db } = context
  const { kind } = writer
  for await (const records of readBatches(importer, kind, report, signal)) {
    const { open, stored, known } = await storeBatch(context, writer, records)
    report.count(kind, 'present', known)
    for (const [index, one] of stored.entries()) {
      const record = open[index]
      if (record === undefined) continue
      if ('reason' in one) report.skip({ kind, id: writer.idOf(record), name: writer.nameOf(record), reason: one.reason })
      else report.count(kind, one.as)
    }
    for (const skipped of await after?.(toBatch(context, db), records, signal) ?? []) report.skipFile(skipped)
    await context.onProgress(kind)
  }
}
