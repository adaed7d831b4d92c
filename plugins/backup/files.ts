import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { ifPresent } from '../../core/files/fs-error.ts'
import { type Store, STORE_FOLDERS } from '../../core/store/store.ts'

/** Folders that a restore replaces as a whole. */
export const FOLDERS = ['assets', 'resources', 'plugins'] as const

/** Incomplete uploads, to which nothing refers yet. Saves and the folders of their emulators may have any names. */
const UNFINISHED = /^assets\/(users\/[^/]+\/)?incoming\/|^resources\/(.*\/)?\.incoming\/|(^|\/)\.[^/]*\.tmp$/
/** Pictures and documents of ROMs that people chose or uploaded. A scan downloads all others again. */
const USER_CONTENT = /^resources\/(collections\/|.*\/manual\/[^/]+$|(.*\/)?own-[^/]*$)/

/**
 * True for files that belong in a backup. Plugin packages may use any file names; the links in them are created again.
 */
const isOwn = (path: string) => path.startsWith('plugins/') ||
  (!UNFINISHED.test(path) && (path.startsWith('assets/') || USER_CONTENT.test(path)))

async function * walk (dataDir: string, folder: string): AsyncGenerator<string> {
  // The folder may never have been created, or was deleted meanwhile.
  const entries = await ifPresent(opendir(join(dataDir, folder)))
  if (entries === null) return
  for await (const entry of entries) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield * walk(dataDir, path)
    else if (entry.isFile() && isOwn(path)) yield path
  }
}

const IN_STORE: ReadonlySet<string> = new Set(STORE_FOLDERS)

/** True for a path whose file is an object of a store on another machine. */
export const isRemote = (store: Store, path: string): boolean =>
  store.folder === null && IN_STORE.has(path.split('/', 1).join(''))

/**
 * Yields the files that cannot be recreated, as paths relative to the data directory: uploads, chosen pictures,
 * plugins. Objects of a store on another machine have their size, and the same paths as files.
 */
export async function * listOwnFiles (dataDir: string, store: Store): AsyncGenerator<{ path: string, size?: number }> {
  for (const folder of FOLDERS) {
    if (!isRemote(store, folder)) for await (const path of walk(dataDir, folder)) yield { path }
    else for await (const { key: path, size } of store.list(folder)) if (isOwn(path)) yield { path, size }
  }
}
