import type { FastifyInstance } from 'fastify'
import type { LibraryRoot } from '../library/roots.ts'
import { selectKnownPlatforms, selectScanEnd } from '../scans/platform-rows.ts'
import { type LibraryWatch, type LibraryWatchOptions, watchLibrary } from './library-watch.ts'

/** The interval at which the list of watched libraries is read again. */
const CHECK_MS = 60_000

/** Creates the watches of all libraries that the configuration marks as watched. */
export function createLibraryWatches (app: FastifyInstance, options: Pick<LibraryWatchOptions, 'onChange' | 'onWrite'>) {
  /** The watches by the id and folder of their library. */
  const watches = new Map<string, LibraryWatch>()
  let roots: ReadonlyMap<string, LibraryRoot> = new Map()
  let refreshing: Promise<void> = Promise.resolve()
  let isClosed = false

  const open = (key: string, root: LibraryRoot, scannedAt: number) => watchLibrary({
    libraryDir: root.dir,
    scannedAt,
    listKnown: async () => (await selectKnownPlatforms(app.db, root.id, false))
      .flatMap(({ fs_slug: fsSlug, missing_from_fs: isMissing }) => isMissing ? [] : [fsSlug]),
    readSettings: () => (roots.get(key) ?? root).filesystem,
    readRules: () => app.library.rules,
    log: app.log,
    ...options
  })

  async function refresh (): Promise<void> {
    const watched = (await app.library.list()).filter((root) => root.is_watched)
    if (isClosed) return
    roots = new Map(watched.map((root) => [`${root.id} ${root.dir}`, root]))
    for (const [key, root] of roots) {
      if (!watches.has(key)) watches.set(key, open(key, root, await selectScanEnd(app.db, root.id)))
    }
    for (const [key, watch] of [...watches]) {
      if (roots.has(key)) continue
      watches.delete(key)
      await watch.close()
    }
  }

  function refreshSoon (): Promise<void> {
    refreshing = refreshing.then(refresh).catch((err: unknown) => {
      app.log.warn({ err }, 'the libraries to watch could not be read; the watcher tries again')
    })
    return refreshing
  }

  const timer = setInterval(() => { void refreshSoon() }, CHECK_MS)
  const first = refreshSoon()
  const all = () => [...watches.values()]

  return {
    /** Resolves once all events so far are processed. */
    async idle (): Promise<void> {
      await first
      await Promise.all(all().map((watch) => watch.idle()))
    },
    /** True if at least one library is there and has platforms. */
    hasPlatforms: (): boolean => all().some((watch) => watch.hasPlatforms()),
    async close (): Promise<void> {
      isClosed = true
      clearInterval(timer)
      await refreshing
      await Promise.all(all().map((watch) => watch.close()))
    }
  }
}
export type LibraryWatches = ReturnType<typeof createLibraryWatches>
