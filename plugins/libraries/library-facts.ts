import { statfs } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { createLibraryCache } from '../library-versions/library-cache.ts'
import { selectVersions } from '../library-versions/version-rows.ts'
import { callerKey } from '../platforms/visibility.ts'
import { type LibrarySize, selectLibrarySizes, selectStoredLibraries } from './rows.ts'
import { type DiskSpace, EMPTY_LIBRARY_SIZE, type LibraryFacts } from './views.ts'

const SIZES_MAX_BYTES = 1024 ** 2
const BYTES_PER_SIZE = 200

/** Returns null if the system does not report the space. */
async function readDiskSpace (dir: string): Promise<DiskSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(dir)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return null
  }
}

/** Creates the function that reads the state, size and disk space of all libraries. Sizes are cached. */
export function createFactsReader (app: FastifyInstance) {
  const sizes = createLibraryCache<ReadonlyMap<number, LibrarySize>>({
    maxBytes: SIZES_MAX_BYTES, sizeOf: (key) => key.size * BYTES_PER_SIZE
  })

  async function readSizes ({ db, caller }: Context): Promise<ReadonlyMap<number, LibrarySize>> {
    return await sizes.get(await selectVersions(db, null), { caller: callerKey(caller), of: 'libraries' },
      () => selectLibrarySizes(app.longReads, caller))
  }

  /** Returns the configured libraries in their order, then removed libraries that still have ROMs. */
  return async function readFacts (context: Context): Promise<LibraryFacts[]> {
    const { db } = context
    const states = await app.library.checkLibraries()
    const [stored, sizeById] = await Promise.all([selectStoredLibraries(db), readSizes(context)])
    const sizeOf = (id: number) => sizeById.get(id) ?? EMPTY_LIBRARY_SIZE
    const configured = await Promise.all(states.map(async ({ root, problem }) => {
      const row = stored.find(({ id }) => id === root.id) ??
        { id: root.id, name: root.name, root: root.dir, scan_id: null, scanned_at: null, problem: null }
      const room = problem === null ? await readDiskSpace(root.dir) : null
      return { stored: row, root, problem, size: sizeOf(root.id), room }
    }))
    const unconfigured = stored.filter(({ id }) => sizeById.has(id) && !states.some(({ root }) => root.id === id))
    return [...configured, ...unconfigured.map((row) => ({
      stored: row, root: null, problem: 'it is not configured any more', size: sizeOf(row.id), room: null
    }))]
  }
}
