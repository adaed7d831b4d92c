import { basename, join } from 'node:path'
import type { OpenWatch, WatchHandle } from './open-watch.ts'
import { identify } from './watched-platforms.ts'

interface ParentFolder { identity: string, handle: WatchHandle | null, refusal: unknown }

/**
 * Creates the watches of the folders in which platforms appear and vanish. Paths are relative to the library, which is
 * `''`.
 *
 * @param onChange called when a name appears or vanishes; null if the name is unknown
 */
export function createParentFolders (libraryDir: string, open: OpenWatch, onChange: (path: string | null) => void) {
  const folders = new Map<string, ParentFolder>()

  function drop (path: string): void {
    folders.get(path)?.handle?.close()
    folders.delete(path)
  }

  function listen (path: string, name: string | null): void {
    const inner = name === null ? null : path === '' ? name : `${path}/${name}`
    if (inner !== null) drop(inner)
    // An event about the watched folder itself comes under its own name.
    if (name === basename(join(libraryDir, path))) drop(path)
    onChange(inner)
  }

  /** Watches one folder. @returns true if the watch is new */
  async function watch (path: string): Promise<boolean> {
    const full = join(libraryDir, path)
    const identity = await identify(full)
    const current = folders.get(path)
    if (current !== undefined && current.handle !== null && current.identity === identity) return false
    drop(path)
    if (identity === '') return false
    const folder: ParentFolder = { identity, handle: null, refusal: null }
    folders.set(path, folder)
    try {
      folder.handle = open(full, (event, name) => { if (event === 'rename') listen(path, name) }, () => { drop(path) })
    } catch (err) {
      folder.refusal = err
    }
    return folder.handle !== null
  }

  return {
    /**
     * Watches exactly these folders.
     *
     * @returns true if some watches are new, because earlier changes there had no event
     */
    async set (paths: ReadonlySet<string>): Promise<boolean> {
      for (const path of [...folders.keys()]) if (!paths.has(path)) drop(path)
      let isAnyNew = false
      for (const path of paths) isAnyNew = await watch(path) || isAnyNew
      return isAnyNew
    },

    /** Returns the errors of refused watches. */
    refusals: () => [...folders.values()].filter(({ handle }) => handle === null).map(({ refusal }) => refusal),

    close (): void { for (const path of [...folders.keys()]) drop(path) }
  }
}
