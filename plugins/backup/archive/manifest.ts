import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ArchiveError } from '../../../core/archives/limits.ts'

/** The first entry of an archive says what it is, the last one that nothing is missing. */
export const MANIFEST = 'manifest.json'
export const ENDING = 'end.json'
/** Lists of hashes: each tells those of the entries since the one before. */
export const HASHES = 'hashes/'
export const TABLES = 'tables/'
export const FILES = 'files/'
/** In place of a file: what its content is, which lies beside the archive. */
export const PARTS = 'parts/'
export const SECRETS = 'private/'
const FORMAT = 'svc-backup'
const VERSION = 1

const TableSchema = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) })

/** What manifests of all formats have. */
const HeadSchema = Type.Object({ format: Type.Literal(FORMAT), version: Type.Integer(), svc: Type.String() })

const ManifestSchema = Type.Object({
  ...HeadSchema.properties,
  created_at: Type.String(),
  /** What ties a data directory to its database. */
  identity: Type.Union([Type.String(), Type.Null()]),
  /** The schema: every migration that made it, in order. */
  migrations: Type.Array(Type.String()),
  /** Where it came from; any version can take it in. */
  postgresql: Type.String(),
  tables: Type.Array(TableSchema),
  sequences: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  /** Whether it is a whole server, or the rows of one alone: its files and secrets then lie where they were. */
  holds: Type.Union([Type.Literal('everything'), Type.Literal('database')]),
  /** How the secret key and config.yml lie in it. */
  secrets: Type.Union([Type.Literal('sealed'), Type.Literal('left out')])
})
export type Manifest = Static<typeof ManifestSchema>
export type TableDescription = Static<typeof TableSchema>

const EndingSchema = Type.Object({
  entries: Type.Integer(),
  rows: Type.Record(Type.String(), Type.Integer()),
  files: Type.Integer(),
  bytes: Type.Integer(),
  /** Files that were deleted while the backup was made; the first of them by name. */
  gone: Type.Integer(),
  gone_files: Type.Array(Type.String())
})
export type Ending = Static<typeof EndingSchema>

export const newManifest = (facts: Omit<Manifest, 'format' | 'version'>): Manifest => ({ format: FORMAT, version: VERSION, ...facts })

function parse<T extends TSchema> (schema: T, text: string, what: string): Static<T> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ArchiveError(`its ${what} cannot be read`)
  }
  if (Value.Check(schema, value)) return value
  throw new ArchiveError(`its ${what} is not that of a backup`)
}

/** @throws ArchiveError when it is no manifest of a backup, or one of a later format */
export function readManifest (text: string): Manifest {
  const { version, svc } = parse(HeadSchema, text, 'manifest')
  if (version > VERSION) throw new ArchiveError(`it was made by a later release (svc ${svc}); use that release`)
  return parse(ManifestSchema, text, 'manifest')
}

/** @throws ArchiveError */
export const readEnding = (text: string): Ending => parse(EndingSchema, text, 'end')
