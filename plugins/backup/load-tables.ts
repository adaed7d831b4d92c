import { type Hash, createHash } from 'node:crypto'
import type pg from 'pg'
import { ArchiveError } from '../../core/archives/limits.ts'
import { migrate } from '../../core/database/database.ts'
import { StartError } from '../../core/errors.ts'
import { migrations } from '../migrations.ts'
import type { ArchiveVisitor } from './archive/read-archive.ts'
import type { Manifest, TableDescription } from './archive/manifest.ts'
import { type ForeignKey, closeDatabase, copyIn, copyOut, openForRows } from './rows.ts'

const KNOWN = new Set(migrations.map(({ name }) => name))

/** @throws ArchiveError if the archive's tables belong to a newer release */
export function requireKnownTables (manifest: Manifest): void {
  const newer = manifest.migrations.find((name) => !KNOWN.has(name))
  if (newer !== undefined) {
    throw new ArchiveError(`its tables belong to a newer release, or to a preview of the first (svc ${manifest.svc}, migration ${newer}); restore it with that release`)
  }
}

const migrateTo = (url: string, wanted: typeof migrations) =>
  migrate({ url, poolSize: 1, entities: [], migrations: wanted })

/** Migrates restored tables to the schema of this release. @returns the migrations that ran */
export const migrateRestored = (url: string): Promise<string[]> => migrateTo(url, migrations)

async function * hashed (content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
}

/** Fills an empty database with the tables of an archive, in the schema of the archive. */
export function createLoader (client: pg.Client, url: string) {
  const hashes = new Map<string, Hash>()
  let opened: { manifest: Manifest, keys: ForeignKey[] } | null = null

  async function open (manifest: Manifest): Promise<void> {
    requireKnownTables(manifest)
    const applied = new Set(manifest.migrations)
    await migrateTo(url, migrations.filter(({ name }) => applied.has(name)))
    opened = { manifest, keys: await openForRows(client, manifest.tables) }
  }

  async function rows (name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    const table = opened?.manifest.tables.find((one) => one.name === name)
    if (table === undefined) throw new ArchiveError(`its manifest does not list the table ${JSON.stringify(name)}`)
    const hash = hashes.get(name) ?? createHash('sha256')
    hashes.set(name, hash)
    return await copyIn(client, table, hashed(content, hash))
  }

  /** @throws StartError if a table differs from the rows that were written */
  async function readBack (table: TableDescription): Promise<void> {
    const hash = createHash('sha256')
    for await (const chunk of copyOut(client, table).content) hash.update(chunk)
    if (hash.digest('hex') === (hashes.get(table.name) ?? createHash('sha256')).digest('hex')) return
    throw new StartError(`The restored table ${table.name} differs from the table in the backup. Nothing was changed; check the disk and ` +
      'the memory of this machine, then repeat the command.')
  }

  return {
    visitor: { manifest: open, rows } satisfies ArchiveVisitor,
    /** Compares the tables with the archive, after all rows are loaded. */
    async close (): Promise<void> {
      if (opened === null) return
      for (const table of opened.manifest.tables) await readBack(table)
      await closeDatabase(client, opened.manifest, opened.keys)
    }
  }
}
