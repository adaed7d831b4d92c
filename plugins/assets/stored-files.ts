import type { Db, Queryable } from '../../core/database/db.ts'
import type { Config } from '../../core/config/config.ts'
import { requirePair } from '../../core/database/identity.ts'
import { createStore } from '../../core/store/create-store.ts'
import type { ObjectFacts, Store } from '../../core/store/store.ts'
import { commandLine } from '../../core/process/command-line.ts'
import { ASSETS, INCOMING, contentKey } from './asset-files.ts'
import { type Content, selectContents } from './clean-up/janitor-rows.ts'
import { PLURALS } from './views.ts'

/** Folders of a user with published uploads. The avatar has its own folder beside them. */
const PUBLISHED_FOLDERS: readonly string[] = Object.values(PLURALS)

/** A file in the store, with its path below the assets folder. */
export type UploadedFile = Pick<ObjectFacts, 'size' | 'modifiedAt'> & { path: string }

/** Yields all files of a folder below the assets folder. */
export async function * listFiles (store: Store, folder: string): AsyncGenerator<UploadedFile> {
  for await (const { key, ...facts } of store.list(contentKey(folder))) {
    yield { ...facts, path: key.slice(ASSETS.length + 1) }
  }
}

/** A folder below the folders of users with files of another feature, which are no assets. */
export interface FeatureFolder {
  name: string
  /** Selects the paths below the assets folder that rows name. */
  selectNamed (db: Db): Promise<string[]>
}

/** All files of users, also of those whose account was deleted. */
interface Uploads {
  published: UploadedFile[]
  incoming: UploadedFile[]
  /** The files in the folders of other features, by the name of the folder. */
  others: Map<string, UploadedFile[]>
}

/** Lists all files of users. Paths have the form `users/<user>/<folder>/…`. */
export async function listUploads (store: Store): Promise<Uploads> {
  const found: Uploads = { published: [], incoming: [], others: new Map() }
  for await (const file of listFiles(store, 'users')) {
    const [, , folder = ''] = file.path.split('/')
    if (folder === INCOMING) found.incoming.push(file)
    else if (PUBLISHED_FOLDERS.includes(folder)) found.published.push(file)
    else found.others.set(folder, found.others.get(folder) ?? []).get(folder)?.push(file)
  }
  return found
}

/** Loads all content that rows name, by its path. */
export async function loadNamed (pool: Queryable): Promise<Map<string, Content>> {
  return new Map((await selectContents(pool)).map((row) => [row.disk_path, row]))
}

async function hasForeignFiles (config: Config, pool: Queryable): Promise<boolean> {
  const { published } = await listUploads(createStore(config))
  if (published.length === 0) return false
  const named = await loadNamed(pool)
  return !published.some(({ path }) => named.has(path))
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
