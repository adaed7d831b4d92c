import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../../core/files/fs-error.ts'
import { SERVER_DIR } from '../../../core/server-dir.ts'

/** The files that browsers load, and their parts in the page. */
export interface Bundle {
  folder: string
  entry: string
  styles: string
  icon: string
  /** Scripts that the entry imports, which the browser may load beside it. */
  preloads: string[]
  /** The encodings in which each file is stored, besides its own content. */
  files: Record<string, { encodings: string[] }>
}

/** The sources of the pages. */
export const WEB_DIR = join(import.meta.dirname, '..', 'web')
/** The bundle of a package or image, which is made with it. */
export const SHIPPED_DIR = join(import.meta.dirname, '..', 'dist')
/** The bundle of a checkout. */
export const CACHE_DIR = join(SERVER_DIR, 'node_modules', '.cache', 'svc-console')
export const MANIFEST = 'manifest.json'
/** npm writes this file at each installation, which may change packages in the bundle. */
const INSTALLED = join(SERVER_DIR, 'node_modules', '.package-lock.json')

/** Returns when a file last changed; 0 if it does not exist. */
async function readTime (path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return 0
    throw err
  }
}

/** Returns when the sources or the bundled packages last changed. */
async function readSourceTime (): Promise<number> {
  const entries = await readdir(WEB_DIR, { recursive: true, withFileTypes: true })
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.endsWith('.d.ts'))
  return Math.max(...await Promise.all([INSTALLED, join(import.meta.dirname, 'make-bundle.ts'), ...paths].map(readTime)))
}

async function readBundle (folder: string): Promise<Bundle> {
  return { ...JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Omit<Bundle, 'folder'>, folder }
}

/** Finds the bundle that is newest. @returns null if there is none; `isFresh` is false if a source is newer */
export async function findBundle (folders: readonly string[]): Promise<{ bundle: Bundle, isFresh: boolean } | null> {
  const manifests = folders.map((folder) => join(folder, MANIFEST))
  const [sources, ...times] = await Promise.all([readSourceTime(), ...manifests.map(readTime)])
  const newest = Math.max(...times)
  const folder = folders[times.indexOf(newest)]
  if (newest === 0 || folder === undefined) return null
  return { bundle: await readBundle(folder), isFresh: newest >= sources }
}
