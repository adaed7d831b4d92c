import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ArchiveError } from '../../../core/archives/limits.ts'

/** The first entry identifies the archive; the last one proves that the archive is complete. */
export const MANIFEST = 'manifest.json'
export const ENDING = 'end.json'
/** Lists of hashes. Each list covers the entries since the previous list. */
export const HASHES = 'hashes/'
export const TABLES = 'tables/'
export const FILES = 'files/'
/** References that replace files whose content lies beside the archive. */
export const PARTS = 'parts/'
export const SECRETS = 'private/'
const FORMAT = 'svc-backup'
const VERSION = 1

const TableSchema = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) })

/** The part that manifests of all formats share. */
const HeadSchema = Type.Object({ format: Type.Literal(FORMAT), version: Type.Integer(), svc: Type.String() })

const ManifestSchema = Type.Object({
  ...HeadSchema.properties,
  created_at: Type.String(),
  /** The identity that links a data directory to its database. */
  identity: Type.Union([Type.String(), Type.Null()]),
  /** The migrations that created the schema, in order. */
  migrations: Type.Array(Type.String()),
  /** The PostgreSQL version of the database. Any version can restore it. */
  postgresql: Type.String(),
  tables: Type.Array(TableSchema),
  sequences: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  /** Whole server, or only the database, whose files and secrets then stay in the data directory. */
  holds: Type.Union([Type.Literal('everything'), Type.Literal('database')]),
  /** The form of the secret key and config.yml in the archive. */
  secrets: Type.Union([Type.Literal('sealed'), Type.Literal('left out')])
})
export type Manifest = Static<typeof ManifestSchema>
export type TableDescription = Static<typeof TableSchema>

const EndingSchema = Type.Object({
  entries: Type.Integer(),
  rows: Type.Record(Type.String(), Type.Integer()),
  files: Type.Integer(),
  bytes: Type.Integer(),
  /** Number of files that were deleted during the backup or are not in the store, and the first of them by name. */
  gone: Type.Integer(),
  gone_files: Type.Array(Type.String())
})
export type ArchiveEnd = Static<typeof EndingSchema>

export const newManifest = (facts: Omit<Manifest, 'format' | 'version'>): Manifest => ({ format: FORMAT, version: VERSION, ...facts })

/** Reads a text of an archive. @param what its name, for errors @throws ArchiveError if the text is damaged */
export function parseText<T extends TSchema> (schema: T, text: string, what: string): Static<T> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ArchiveError(`its ${what} cannot be read`)
  }
  if (Value.Check(schema, value)) return value
  throw new ArchiveError(`its ${what} is not the ${what} of a backup`)
}

/** @throws ArchiveError if it is not a backup's manifest, or has a later format */
export function readManifest (text: string): Manifest {
  const { version, svc } = parseText(HeadSchema, text, 'manifest')
  if (version > VERSION) throw new ArchiveError(`it was made by a later release (svc ${svc}); use that release`)
  return parseText(ManifestSchema, text, 'manifest')
}

/** @throws ArchiveError */
export const readEnding = (text: string): ArchiveEnd => parseText(EndingSchema, text, 'end')
