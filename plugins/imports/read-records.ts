import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { TSchema } from '@sinclair/typebox'
import { type ImportRecord, type Importer, RECORDS, type RecordKind } from './contract.ts'
import type { Report } from './report.ts'

const BATCH = 500

const checks = new Map<RecordKind, TypeCheck<TSchema>>()

function checkOf (kind: RecordKind): TypeCheck<TSchema> {
  const known = checks.get(kind)
  if (known !== undefined) return known
  const made: TypeCheck<TSchema> = TypeCompiler.Compile(RECORDS[kind])
  checks.set(kind, made)
  return made
}

const LOOKS_LIKE_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Returns the first problem of a record; null for a usable one. */
function findProblem (kind: RecordKind, record: unknown): string | null {
  const check = checkOf(kind)
  if (!check.Check(record)) {
    const error = check.Errors(record).First()
    return `its field ${error?.path ?? ''} is not usable: ${error?.message ?? 'wrong type'}`
  }
  const wrong = Object.entries(record as object).find(([name, value]) => /_(?:at|played|time|login|active|seen)$/.test(name) &&
    typeof value === 'string' && LOOKS_LIKE_TIME.test(value) && Number.isNaN(Date.parse(value)))
  return wrong === undefined ? null : `its ${wrong[0]} '${String(wrong[1])}' is no time`
}

const textOf = (value: unknown): string | null => typeof value === 'string' && value !== '' ? value : null

/** Returns a name of a record that may have any shape. */
function nameOf (record: object): string | null {
  const { name, username, title, file_name: file, fs_name: fsName } = record as Record<string, unknown>
  return textOf(name) ?? textOf(username) ?? textOf(title) ?? textOf(file) ?? textOf(fsName)
}

/** Lists the usable records of a kind in batches; the report gets all others. */
export async function * readBatches<Kind extends RecordKind> (
  importer: Importer, kind: Kind, report: Report, signal: AbortSignal
): AsyncGenerator<ImportRecord<Kind>[]> {
  let batch: ImportRecord<Kind>[] = []
  for await (const record of importer.list(kind)) {
    signal.throwIfAborted()
    report.list(kind)
    const problem = findProblem(kind, record)
    if (problem === null) batch.push(record)
    else report.skip({ kind, id: textOf((record as { id?: unknown }).id), name: nameOf(record), reason: problem })
    if (batch.length === BATCH) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
