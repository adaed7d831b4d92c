import { basename, join } from 'node:path'
import type { OpenWatch, WatchHandle } from './open-watch.ts'
import { identify } from './watched-platforms.ts'

interface Upper { identity: string, handle: WatchHandle | null, refusal: unknown }

/**
 * The watches of the folders in which platforms come and go. Paths are relative to the library, `''` is itself.
 *
 * @param onChange a name appeared or vanished; null when nobody knows which
 */
export function createUpperFolders (libraryDir: string, open: OpenWatch, onChange: (path: string | null) => void) {
  const uppers = new Map<string, Upper>()

  function drop (path: string): void {
    uppers.get(path)?.handle?.close()
    uppers.delete(path)
  }

  function listen (path: string, name: string | null): void {
    const inner = name === null ? null : path === '' ? name : `${path}/${name}`
    if (inner !== null) drop(inner)
    // What happens to a watched folder itself is told under its own name.
    if (name === basename(join(libraryDir, path))) drop(path)
    onChange(inner)
  }

  /** @returns whether it is watched only from now on */
  async function watch (path: string): Promise<boolean> {
    const full = join(libraryDir, path)
    const identity = await identify(full)
    const known = uppers.get(path)
    if (known !== undefined && known.handle !== null && known.identity === identity) return false
    drop(path)
    if (identity === '') return false
    const upper: Upper = { identity, handle: null, refusal: null }
    uppers.set(path, upper)
    try {
      upper.handle = open(full, (event, name) => { if (event === 'rename') listen(path, name) }, () => { drop(path) })
    } catch (err) {
      upper.refusal = err
    }
    return upper.handle !== null
  }

  return {
    /**
     * Watches these and no others.
     *
     * @returns whether some are watched only from now on: what changed in them before nobody was told
     */
    async set (paths: ReadonlySet<string>): Promise<boolean> {
      for (const path of [...uppers.keys()]) if (!paths.has(path)) drop(path)
      let isAnyNew = false
      for (const path of paths) isAnyNew = await watch(path) || isAnyNew
      return isAnyNew
    },

    /** Why the system refused some. */
    refusals: () => [...uppers.values()].filter(({ handle }) => handle === null).map(({ refusal }) => refusal),

    close (): void { for (const path of [...uppers.keys()]) drop(path) }
  }
}
