import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db, Queryable } from '../../core/database/db.ts'
import type { Config } from '../../core/config/config.ts'
import { requirePair } from '../../core/database/identity.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { commandLine } from '../../core/supervisor/banner.ts'
import { INCOMING } from './asset-files.ts'
import { type Content, selectContents } from './clean-up/janitor-rows.ts'
import { PLURALS } from './views.ts'

/** Folders of a user with published uploads. The avatar has its own folder beside them. */
const PUBLISHED_FOLDERS = Object.values(PLURALS)

/** Returns the result of `list`, or an empty list if the folder does not exist. */
async function orEmptyList<T> (list: Promise<T[]>): Promise<T[]> {
  return await list.catch((err: unknown) => {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  })
}

/** Lists all files of a folder below the assets folder, as paths below the assets folder. */
export async function listFiles (base: string, folder: string): Promise<string[]> {
  const entries = await orEmptyList(readdir(join(base, folder), { recursive: true, withFileTypes: true }))
  return entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(base.length + 1))
}

/** A folder below the folders of users with files of another feature, which are no assets. */
export interface FeatureFolder {
  name: string
  /** Selects the paths below the assets folder that rows name. */
  selectNamed (db: Db): Promise<string[]>
}

/** Lists the files of a feature, of all users and of those whose account was deleted. */
export async function listFeatureFiles (base: string, { name }: FeatureFolder): Promise<string[]> {
  const users = await orEmptyList(readdir(join(base, 'users')))
  return (await Promise.all(users.map((user) => listFiles(base, join('users', user, name))))).flat()
}

/** Lists all uploaded files: published ones, and staged ones. */
export async function listUploads (base: string): Promise<{ published: string[], incoming: string[] }> {
  const found = { published: [] as string[], incoming: [] as string[] }
  for (const user of await orEmptyList(readdir(join(base, 'users')))) {
    found.incoming.push(...await listFiles(base, join('users', user, INCOMING)))
    for (const folder of PUBLISHED_FOLDERS) found.published.push(...await listFiles(base, join('users', user, folder)))
  }
  return found
}

/** Loads all content that rows name, by its path. */
export async function loadNamed (pool: Queryable): Promise<Map<string, Content>> {
  return new Map((await selectContents(pool)).map((row) => [row.disk_path, row]))
}

async function hasForeignFiles (config: Config, pool: Queryable): Promise<boolean> {
  const { published } = await listUploads(join(config.data_dir, 'assets'))
  if (published.length === 0) return false
  const named = await loadNamed(pool)
  return !published.some((path) => named.has(path))
}

/**
 * Checks that the data directory and the database belong together. If one of them has no identity yet, they belong
 * together unless uploads exist and the database names none of them.
 *
 * @throws StartError with the way out if they do not belong together.
 */
export const requireOwnUploads = (config: Config, pool: Queryable): Promise<void> => requirePair({
  dataDir: config.data_dir,
  pool,
  isForeign: () => hasForeignFiles(config, pool),
  adoptCommand: commandLine(config, 'database', 'adopt')
})
