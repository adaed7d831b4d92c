import type { Logger } from 'pino'
import { LibraryUnreadableError } from '../library/directory.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { type OpenWatch, describeRefusal, openWatch } from './open-watch.ts'
import { createSerialQueue } from './serial-queue.ts'
import type { FilesystemSettings } from '../library/structure.ts'
import { createParentFolders } from './parent-folders.ts'
import { WatchedFolders } from './watched-folders.ts'
import { type PlatformOnDisk, listChangedAfter, openPlatform, readParentFolders } from './watched-platforms.ts'

export interface LibraryWatchOptions {
  libraryDir: string
  /** Returns the current settings; a change of them is noticed at the next check. */
  readSettings (): FilesystemSettings
  readRules (): ExclusionRules
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** The end of the last scan in milliseconds since 1970; 0 if the library was never scanned. */
  scannedAt: number
  /** Lists the names of the platform folders that the last scan found. */
  listKnown (): Promise<readonly string[]>
  /**
   * Called when an entry that a scan reads appeared in a platform or vanished from it; null if anything may have
   * changed.
   */
  onChange (fsSlug: string | null): void
  /** Called on a write in a platform, perhaps to a file that is still being copied. */
  onWrite (fsSlug: string): void
  /** The interval of checks for changes without events: whether the library is there, and is the same. */
  checkMs?: number
  open?: OpenWatch
}

export interface LibraryWatch {
  /** Resolves once all events so far are processed. */
  idle (): Promise<void>
  /** True if the library is there and has platforms. */
  hasPlatforms (): boolean
  close (): Promise<void>
}

const CHECK_MS = 60_000

/** True if a path equals the other one or lies above it. */
const isAtOrAbove = (path: string, other: string) => other === path || other.startsWith(`${path}/`)

/** The platforms of a library by the name of their folder. */
type Platforms = ReadonlyMap<string, PlatformOnDisk>

/** Reads the platforms of a library; a library that is not there has none. */
async function readPlatforms ({ libraryDir, readSettings, readRules }: LibraryWatchOptions) {
  try {
    const found = await readParentFolders(libraryDir, readSettings(), readRules())
    return { ...found, problem: found.platforms.size > 0 ? null : `The library ${libraryDir} has no platform folders` }
  } catch (err) {
    if (!(err instanceof LibraryUnreadableError)) throw err
    return { platforms: new Map<string, PlatformOnDisk>(), paths: new Set(['']), problem: err.message }
  }
}

/** Returns the platforms that differ. `names` are paths that appeared or vanished above the platforms' own folders. */
function listChanged (former: Platforms, found: Platforms, names: readonly string[]): string[] {
  return [...new Set([...former.keys(), ...found.keys()])].filter((fsSlug) => {
    const [before, now] = [former.get(fsSlug), found.get(fsSlug)]
    const paths = now?.paths ?? before?.paths ?? []
    return before?.identity !== now?.identity || names.some((name) => paths.some((path) => isAtOrAbove(name, path)))
  })
}

/** Creates the log of refused watches, which has one line when they begin and one when they end. */
function createRefusalLog (log: LibraryWatchOptions['log']) {
  let isIncomplete = false

  return {
    exist: (): boolean => isIncomplete,

    report (refusals: readonly unknown[], folders: number): void {
      if (refusals.length > 0 && !isIncomplete) {
        log.warn({ folders: refusals.length, watched: folders - refusals.length },
          `some folders of the library are not watched: ${describeRefusal(refusals[0])}. The watcher tries again every minute`)
      }
      if (refusals.length === 0 && isIncomplete) log.info('all folders of the library are watched again')
      isIncomplete = refusals.length > 0
    }
  }
}

/**
 * Reports the platforms of a library that change. Watches folders, never files: those from the library down to the
 * platforms, and all folders below that a scan reads. Waits for a library that is not there.
 */
export function watchLibrary (options: LibraryWatchOptions): LibraryWatch {
  const { libraryDir, readRules, log, onChange, onWrite, checkMs = CHECK_MS, open = openWatch } = options
  const steps = createSerialQueue((err) => { log.error({ err }, 'a change of the library could not be examined') })
  const folders = new WatchedFolders({ readRules, open, steps, onChange, onWrite })
  /** Paths that appeared or vanished above the platforms' own folders. */
  const touched = new Set<string>()
  const parentFolders = createParentFolders(libraryDir, open, (path) => {
    if (path !== null) touched.add(path)
    refreshSoon()
  })
  let platforms: Platforms = new Map()
  /** Null until the library was read for the first time. */
  let hasPlatforms: boolean | null = null
  const refusals = createRefusalLog(log)
  // The key cannot equal a path, because a path never starts with a slash.
  const refreshSoon = () => { steps.add('/refresh', refresh) }

  /** Updates the watches to match the folders on disk. */
  async function refresh (): Promise<void> {
    const names = [...touched]
    touched.clear()
    const found = await readPlatforms(options)
    const hasChanged = await parentFolders.set(found.paths)
    if (found.problem === null) await compare(found.platforms, names)
    else reportProblem(found.problem)
    refusals.report([...parentFolders.refusals(), ...folders.refusals()], folders.size())
    if (hasChanged) refreshSoon()
  }

  function reportProblem (problem: string): void {
    platforms = new Map()
    folders.close()
    if (hasPlatforms !== false) log.warn(`${problem}. The watcher waits for it and checks again every minute`)
    hasPlatforms = false
  }

  async function compare (found: Platforms, names: readonly string[]): Promise<void> {
    const hadPlatforms = hasPlatforms
    const changed = listChanged(platforms, found, names)
    await watchAnew(changed, found)
    platforms = found
    hasPlatforms = true
    if (hadPlatforms === true) changed.forEach(onChange)
    else log.info({ platforms: found.size, folders: folders.size() }, 'the library is watched')
    if (hadPlatforms === null && options.scannedAt > 0) await reportMissed(found)
    // Anything may have changed while the library was away.
    if (hadPlatforms === false) onChange(null)
  }

  /** Reports changes since the last scan that nobody watched. The watches are open already, so none is missed. */
  async function reportMissed (found: Platforms): Promise<void> {
    const gone = (await options.listKnown()).filter((fsSlug) => !found.has(fsSlug))
    const changed = await listChangedAfter(libraryDir, found.values(), options.scannedAt)
    for (const fsSlug of [...gone, ...changed]) onChange(fsSlug)
  }

  async function watchAnew (changed: readonly string[], found: Platforms): Promise<void> {
    const opened = []
    for (const fsSlug of changed) {
      for (const path of platforms.get(fsSlug)?.paths ?? []) folders.remove(path)
      const watchedPlatform = found.get(fsSlug)
      if (watchedPlatform !== undefined) opened.push(...await openPlatform(libraryDir, watchedPlatform))
    }
    await folders.add(opened)
  }

  const timer = setInterval(() => {
    refreshSoon()
    if (refusals.exist()) steps.add('/retry', () => folders.retry())
  }, checkMs)
  refreshSoon()

  return {
    idle: () => steps.idle(),
    hasPlatforms: () => hasPlatforms === true,
    async close () {
      clearInterval(timer)
      steps.close()
      await steps.idle()
      parentFolders.close()
      folders.close()
    }
  }
}
