import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { requirePair } from '../../core/database/identity.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { commandLine } from '../../core/supervisor/banner.ts'
import { INCOMING } from './asset-files.ts'
import { type Content, selectContents } from './clean-up/janitor-rows.ts'
import { PLURALS } from './views.ts'

/** Folders of a user that hold uploads; the picture of an account lies beside them. */
const SETTLED = Object.values(PLURALS)

/** What `list` gives; nothing while there is no such folder. */
async function orNothing<T> (list: Promise<T[]>): Promise<T[]> {
  return await list.catch((err: unknown) => {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  })
}

/** All files of a folder below the assets folder, as paths below that. */
export async function listFiles (base: string, folder: string): Promise<string[]> {
  const entries = await orNothing(readdir(join(base, folder), { recursive: true, withFileTypes: true }))
  return entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(base.length + 1))
}

/** Everything that users uploaded: what is complete, and what has no place yet. */
export async function listUploads (base: string): Promise<{ settled: string[], incoming: string[] }> {
  const found = { settled: [] as string[], incoming: [] as string[] }
  for (const user of await orNothing(readdir(join(base, 'users')))) {
    found.incoming.push(...await listFiles(base, join('users', user, INCOMING)))
    for (const folder of SETTLED) found.settled.push(...await listFiles(base, join('users', user, folder)))
  }
  return found
}

/** Every content that a row names, by its path. */
export async function loadNamed (pool: pg.Pool): Promise<Map<string, Content>> {
  return new Map((await selectContents(pool)).map((row) => [row.disk_path, row]))
}

async function holdsForeign (config: Config, pool: pg.Pool): Promise<boolean> {
  const { settled } = await listUploads(join(config.data_dir, 'assets'))
  if (settled.length === 0) return false
  const named = await loadNamed(pool)
  return !settled.some((path) => named.has(path))
}

/**
 * Sees to it that the data directory and the database belong together. While one of them has no identity yet, they do
 * unless there are uploads of which the database names none.
 *
 * @throws StartError when they do not, with the way out.
 */
export const requireOwnUploads = (config: Config, pool: pg.Pool): Promise<void> => requirePair({
  dataDir: config.data_dir,
  pool,
  isForeign: () => holdsForeign(config, pool),
  adoptCommand: commandLine(config, 'database', 'adopt')
})
