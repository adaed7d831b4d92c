import type { FastifyInstance } from 'fastify'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import { createFiles } from '../../../core/loader/plugin-files.ts'
import { createWithinLibrary } from '../../library/linked-folders.ts'
import type { LibraryRoot } from '../../library/roots.ts'
import { type Library, isOutOfReach, readLibrary } from '../disk/read-library.ts'
import { storeScanEnd, selectKnownPlatforms } from '../platform-rows.ts'
import type { LibraryScope } from '../../matching/look-up-at-provider.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { Progress } from '../progress/scan-progress.ts'

/** Ignores problems of libraries that this scan does not scan, because their own scans report them. */
const QUIET: Pick<Progress, 'problem'> = { problem () {} }

interface LibrariesServices {
  progress: Pick<Progress, 'problem'>
  /** The scan's task. */
  task: string
  signal: AbortSignal
  parts: Pick<PartLeases, 'write'>
}

/**
 * Manages the libraries that a scan reads, also to find moved ROMs. A library that is out of reach does not fail the
 * scan as long as another one is scanned: none of its ROMs is marked missing, and the scan reports a problem.
 *
 * @param roots the configured libraries
 * @param chosen the libraries whose problems are reported: those to scan, and none for a worker that helps
 */
export function createLibraries (
  app: FastifyInstance, roots: readonly LibraryRoot[], chosen: readonly LibraryRoot[], services: LibrariesServices
) {
  const { progress, task, signal, parts } = services
  const first = Math.min(...roots.map(({ id }) => id))
  const readable = new Map<number, Library>()
  const failures = new Map<number, Error>()
  const shared = new Map<number, LibraryScope>()

  const isChosen = (root: LibraryRoot) => chosen.includes(root)

  /** Drops a library that is out of reach. @throws the error if it has another cause, or no library is left to scan */
  async function dropLibrary (root: LibraryRoot, err: unknown): Promise<void> {
    signal.throwIfAborted()
    if (!isOutOfReach(err)) throw err
    readable.delete(root.id)
    if (!isChosen(root)) return
    failures.set(root.id, err)
    await parts.write([], (db) => storeScanEnd(db, root.id, task, err.message))
    if (failures.size === chosen.length) throw [...failures.values()][0] ?? err
    progress.problem({ platform: '', path: '', reason: `The library '${root.name}' was not scanned completely: ${err.message}` })
  }

  return {
    /** Reads all libraries. @throws the reason why none of the chosen ones can be read */
    async read (): Promise<void> {
      for (const root of roots) {
        try {
          await app.library.requireScannable(root)
          const stored = await selectKnownPlatforms(app.db, root.id, root.id === first)
          readable.set(root.id, await readLibrary(root, app.library.rules, stored, isChosen(root) ? progress : QUIET))
        } catch (err) {
          await dropLibrary(root, err)
        }
      }
    },

    /** Returns the libraries that can be read, also those that are not to be scanned. */
    list: (): Library[] => [...readable.values()],

    /** Returns the libraries that are to be scanned and can be read. */
    listChosen: (): Library[] => [...readable.values()].filter(({ root }) => isChosen(root)),

    /** Runs work on a readable library. @returns false if the library turns out to be unreadable */
    async attempt ({ root }: Library, work: () => Promise<void>): Promise<boolean> {
      try {
        await work()
        return true
      } catch (err) {
        await dropLibrary(root, err)
        return false
      }
    },

    /** Returns a library; undefined if the library cannot be read. */
    findLibrary: (id: number): LibraryRoot | undefined => readable.get(id)?.root,

    /** Returns the folder of a library; undefined if the library cannot be read. */
    findLibraryDir: (id: number): string | undefined => readable.get(id)?.root.dir,

    /** Returns the objects that lookups of the ROMs of one library share. */
    scopeOf (id: number): LibraryScope {
      const known = shared.get(id)
      if (known !== undefined) return known
      const root = readable.get(id)?.root
      const files = root && createFiles(root.dir, createWithinLibrary(root))
      const scope = { memo: createMemo(), ...(files === undefined ? {} : { files }) }
      shared.set(id, scope)
      return scope
    }
  }
}
