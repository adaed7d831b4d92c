import { Value } from '@sinclair/typebox/value'
import { pino } from 'pino'
import {
  type FileRef, type Importer, type ImporterContext, type ImportRecord, RECORD_KINDS, type RecordKind, RECORDS,
  type Skipped
} from '../../../plugins/imports/contract.ts'

/** The help that an import gives to a reader, with everything that the reader reports. */
export interface TestContext extends ImporterContext {
  readonly skipped: Skipped[]
  readonly warnings: string[]
  abort (): void
}

/** @param workFolder an empty folder */
export function createContext (workFolder: string): TestContext {
  const ending = new AbortController()
  const skipped: Skipped[] = []
  const warnings: string[] = []
  return {
    signal: ending.signal,
    log: pino({ level: 'silent' }),
    workFolder,
    skipped,
    warnings,
    skip: (one) => { skipped.push(one) },
    warn: (text) => { warnings.push(text) },
    abort: () => { ending.abort(new Error('cancelled')) }
  }
}

export type Records = { [Kind in RecordKind]: ImportRecord<Kind>[] }

/** Lists all records, as an import does. @throws Error for a record that does not fit its schema */
export async function listAll (importer: Importer): Promise<Records> {
  const all: Partial<Record<RecordKind, unknown[]>> = {}
  for (const kind of RECORD_KINDS) {
    const records: unknown[] = []
    for await (const record of importer.list(kind)) {
      const [error] = Value.Errors(RECORDS[kind], record)
      if (error !== undefined) throw new Error(`${kind} ${error.path}: ${error.message} in ${JSON.stringify(record)}`)
      records.push(record)
    }
    all[kind] = records
  }
  return all as Records
}

/** Reads a file of a record as text. @throws FileAbsentError as the importer does */
export async function readFile (importer: Pick<Importer, 'open'>, file: FileRef | null | undefined): Promise<string> {
  if (file == null) throw new Error('The record names no file')
  const parts: Uint8Array[] = []
  for await (const chunk of await importer.open(file) as AsyncIterable<Uint8Array>) parts.push(chunk)
  return Buffer.concat(parts).toString()
}
