import { createHash } from 'node:crypto'
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ifPresent } from '../../../core/files/fs-error.ts'
import { SERVER_DIR } from '../../../core/server-dir.ts'

/** The files that browsers load, and their parts in the page. */
export interface Bundle {
  folder: string
  /** The hash of the sources. */
  fingerprint: string
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
const readTime = async (path: string): Promise<number> => (await ifPresent(stat(path)))?.mtimeMs ?? 0

/** Lists the sources. Type declarations change no bundle. */
async function listSources (): Promise<string[]> {
  const entries = await readdir(WEB_DIR, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return [join(import.meta.dirname, 'make-bundle.ts'), ...paths.filter((path) => !path.endsWith('.d.ts')).toSorted()]
}

/** Returns a hash of all sources, because packages and images do not keep times. */
export async function readFingerprint (): Promise<string> {
  const hash = createHash('sha256')
  for (const path of await listSources()) hash.update(path.slice(SERVER_DIR.length)).update(await readFile(path))
  return hash.digest('hex')
}

async function readBundle (folder: string): Promise<Bundle> {
  return { ...JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Omit<Bundle, 'folder'>, folder }
}

/** Finds the bundle that is newest. @returns null if there is none; `isFresh` is false if a source is newer */
export async function findBundle (folders: readonly string[]): Promise<{ bundle: Bundle, isFresh: boolean } | null> {
  const manifests = folders.map((folder) => join(folder, MANIFEST))
  const [installed, ...times] = await Promise.all([INSTALLED, ...manifests].map(readTime))
  const newest = Math.max(...times)
  const folder = folders[times.indexOf(newest)]
  if (newest === 0 || folder === undefined) return null
  const bundle = await readBundle(folder)
  // A shipped bundle holds the packages with which it was made.
  if (folder !== SHIPPED_DIR && Number(installed) > newest) return { bundle, isFresh: false }
  const sources = await Promise.all((await listSources()).map(readTime))
  return { bundle, isFresh: newest >= Math.max(...sources) || bundle.fingerprint === await readFingerprint() }
}
