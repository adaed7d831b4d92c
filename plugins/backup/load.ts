import type pg from 'pg'
import { ArchiveError } from '../../core/archives/limits.ts'
import { migrate } from '../../core/database/database.ts'
import { migrations } from '../migrations.ts'
import type { ArchiveVisitor } from './archive/read.ts'
import type { Manifest } from './archive/manifest.ts'
import { type ForeignKey, closeDatabase, copyIn, openForRows } from './rows.ts'

const KNOWN = new Set(migrations.map(({ name }) => name))

/** @throws ArchiveError when the archive's tables are of a release that is not known yet */
export function requireKnownSchema (manifest: Manifest): void {
  const newer = manifest.migrations.find((name) => !KNOWN.has(name))
  if (newer !== undefined) {
    throw new ArchiveError(`its tables are of a newer release (svc ${manifest.svc}, migration ${newer}); restore it with that one`)
  }
}

const migrateTo = (url: string, wanted: typeof migrations) =>
  migrate({ url, poolSize: 1, entities: [], migrations: wanted })

/** Brings restored tables to the schema of this release. @returns the migrations that took */
export const bringUpToDate = (url: string): Promise<string[]> => migrateTo(url, migrations)

/** Fills an empty database with the tables of an archive, in the schema that they were saved with. */
export function createLoader (client: pg.Client, url: string) {
  let opened: { manifest: Manifest, keys: ForeignKey[] } | null = null

  async function open (manifest: Manifest): Promise<void> {
    requireKnownSchema(manifest)
    const had = new Set(manifest.migrations)
    await migrateTo(url, migrations.filter(({ name }) => had.has(name)))
    opened = { manifest, keys: await openForRows(client, manifest.tables) }
  }

  async function rows (name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    const table = opened?.manifest.tables.find((one) => one.name === name)
    if (table === undefined) throw new ArchiveError(`its manifest does not tell of the table ${JSON.stringify(name)}`)
    return await copyIn(client, table, content)
  }

  return {
    visitor: { manifest: open, rows } satisfies ArchiveVisitor,
    /** Once all rows are there. */
    async close (): Promise<void> {
      if (opened !== null) await closeDatabase(client, opened.manifest, opened.keys)
    }
  }
}
