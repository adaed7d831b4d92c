import { stat } from 'node:fs/promises'
import type pg from 'pg'
import { readArchive } from './archive/read-archive.ts'
import type { Progress } from './progress.ts'
import { createLoader } from './load-tables.ts'
import { checkName, createBeside, dropDatabase, readName, withClient } from './rows.ts'

/** PostgreSQL's code for a role that may not create databases. */
const FORBIDDEN = '42501'

export interface Checked {
  archive_bytes: number
  /** True if the tables were restored into a test database; false if the role may not create one. */
  tables_tried: boolean
}

export interface CheckJob {
  path: string
  /** The connection that holds the lock on backups. */
  client: pg.Client
  databaseUrl: string
  signal: AbortSignal
  report (progress: Progress): void
}

async function withScratch<T> (
  client: pg.Client, databaseUrl: string, work: (url: string | null) => Promise<T>
): Promise<T> {
  const name = checkName(await readName(client))
  let url: string | null
  try {
    // Delete a database that a killed backup left.
    await dropDatabase(client, name)
    url = await createBeside(client, databaseUrl, name)
  } catch (err) {
    if (!(err instanceof Error && 'code' in err && err.code === FORBIDDEN)) throw err
    return await work(null)
  }
  try {
    return await work(url)
  } finally {
    await dropDatabase(client, name)
  }
}

/**
 * Reads a new archive from disk, compares every hash, and loads its tables as a restore would.
 *
 * @throws StartError if it is not complete
 */
export async function checkArchive ({ path, client, databaseUrl, signal, report }: CheckJob): Promise<Checked> {
  const { size } = await stat(path)
  let bytes = 0
  const onBytes = (count: number) => {
    bytes += count
    report({ phase: 'check', rows: 0, files: 0, bytes })
  }
  return await withScratch(client, databaseUrl, async (url) => {
    if (url === null) await readArchive(path, {}, onBytes, signal)
    else {
      await withClient(url, async (scratch) => {
        const loader = createLoader(scratch, url)
        await readArchive(path, loader.visitor, onBytes, signal)
        await loader.close()
      })
    }
    return { archive_bytes: size, tables_tried: url !== null }
  })
}
