import type { FastifyInstance } from 'fastify'
import { createMemo } from '../../../core/loader/memo.ts'
import { createFiles } from '../../../core/loader/context.ts'
import { conflict } from '../../../core/errors.ts'
import type { LibraryRoot } from '../../library/roots.ts'
import { type Library, isOutOfReach, readLibrary } from '../disk/read-library.ts'
import { noteScan, selectKnownPlatforms } from '../platform-rows.ts'
import type { LibraryScope } from '../../matching/rom-lookup.ts'
import type { Progress } from '../progress/scan-progress.ts'

/** What is wrong in a library that is not to be scanned is for another scan. */
const QUIET: Pick<Progress, 'problem'> = { problem () {} }

interface LibrariesServices {
  progress: Pick<Progress, 'problem'>
  /** The scan's task. */
  task: string
  signal: AbortSignal
}

/**
 * The libraries that a scan reads, and looks into for what was moved. One that is out of reach costs itself alone, as
 * long as another one is scanned: nothing of it is marked, and the scan says so.
 *
 * @param roots those that are configured
 * @param ids those that are to be scanned; none means all
 */
export function createLibraries (
  app: FastifyInstance, roots: readonly LibraryRoot[], ids: readonly number[], services: LibrariesServices
) {
  const { progress, task, signal } = services
  const chosen = ids.length === 0 ? roots : roots.filter(({ id }) => ids.includes(id))
  const first = Math.min(...roots.map(({ id }) => id))
  const readable = new Map<number, Library>()
  const failures = new Map<number, Error>()
  const shared = new Map<number, LibraryScope>()

  const isChosen = (root: LibraryRoot) => chosen.includes(root)

  /** @throws the error when it is another one, or nothing is left to scan */
  async function giveUp (root: LibraryRoot, err: unknown): Promise<void> {
    signal.throwIfAborted()
    if (!isOutOfReach(err)) throw err
    readable.delete(root.id)
    if (!isChosen(root)) return
    failures.set(root.id, err)
    await noteScan(app.pg, root.id, task, err.message)
    if (failures.size === chosen.length) throw [...failures.values()][0] ?? err
    progress.problem({ platform: '', path: '', reason: `The library '${root.name}' was not scanned to its end: ${err.message}` })
  }

  return {
    /** @throws ApiError CONFLICT when none of them is there · the reason why none can be read */
    async read (): Promise<void> {
      if (chosen.length === 0) throw conflict(`No library has one of the IDs ${ids.join(', ')}; see GET /api/libraries`)
      for (const root of roots) {
        try {
          const known = await selectKnownPlatforms(app.pg, root.id, root.id === first)
          readable.set(root.id, await readLibrary(root, app.library.rules, known, isChosen(root) ? progress : QUIET))
        } catch (err) {
          await giveUp(root, err)
        }
      }
    },

    /** Those that can be read, whether they are to be scanned or not. */
    list: (): Library[] => [...readable.values()],

    /** Those that are to be scanned and can be read. */
    listChosen: (): Library[] => [...readable.values()].filter(({ root }) => isChosen(root)),

    /** Does something with a library that can be read; null when it turns out that it cannot any more. */
    async attempt<T> ({ root }: Library, work: () => Promise<T>): Promise<T | null> {
      try {
        const done = await work()
        await noteScan(app.pg, root.id, task, null)
        return done
      } catch (err) {
        await giveUp(root, err)
        return null
      }
    },

    /** Undefined for a library that cannot be read. */
    dirOf: (id: number): string | undefined => readable.get(id)?.root.dir,

    /** What the calls of providers about ROMs of a library share. */
    scopeOf (id: number): LibraryScope {
      const dir = readable.get(id)?.root.dir
      const known = shared.get(id) ?? { memo: createMemo(), ...(dir === undefined ? {} : { files: createFiles(dir) }) }
      shared.set(id, known)
      return known
    }
  }
}
