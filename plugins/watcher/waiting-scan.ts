import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { type ChangedPath, createDebounce } from './debounce.ts'
import { createScheduledRows, toPayload } from './scheduled-rows.ts'

const TICK_MAX_MS = 1_000
const TICKS_PER_DELAY = 10

/** A scan that waits for changes to come to rest. */
export interface WaitingScan {
  /** Records that an entry appeared or vanished. */
  change (path: ChangedPath): void
  /** Records a write, because the scan waits for the end of a copy. */
  write (path: ChangedPath): void
  /** Resumes the stored scan of another worker. Its changes count as made now, and its copies as running. */
  resume (): Promise<void>
  close (): Promise<void>
}

/** Requests the scan. @returns false if another scan came first */
async function requestScan (app: FastifyInstance, paths: ReadonlySet<ChangedPath>): Promise<boolean> {
  const { platform_fs_slugs: slugs, is_everything: isEverything } = toPayload(paths)
  try {
    await app.scans.request({
      type: 'quick', platforms: [], platform_fs_slugs: isEverything ? [] : slugs, roms_ids: []
    }, null)
  } catch (err) {
    if (err instanceof ApiError && err.code === 'CONFLICT') return false
    throw err
  }
  app.log.info({ platforms: isEverything ? 'all' : slugs }, 'the library changed; a scan is queued')
  return true
}

/** Creates a waiting scan. @param canScan returns true if a library is there to scan */
export function createWaitingScan (app: FastifyInstance, delayMs: number, canScan: () => boolean): WaitingScan {
  const rows = createScheduledRows(app.db)
  const debounce = createDebounce(delayMs)
  const tickMs = Math.min(TICK_MAX_MS, delayMs / TICKS_PER_DELAY)
  /** The changes stored in the database, and the ids of their rows. */
  let stored: { ids: string[], paths: Set<ChangedPath> } | null = null
  /** The changes that are not stored yet. */
  let unstored = new Set<ChangedPath>()
  let timer: NodeJS.Timeout | undefined
  let stepping: Promise<void> = Promise.resolve()
  let isClosed = false

  function wake (): void {
    if (isClosed || timer !== undefined || (stored === null && unstored.size === 0)) return
    timer = setTimeout(() => {
      stepping = step().catch((err: unknown) => {
        app.log.error({ err }, 'the scan for changes of the library could not be queued; the watcher tries again')
        debounce.postpone()
      }).finally(() => {
        timer = undefined
        wake()
      })
    }, tickMs)
  }

  async function step (): Promise<void> {
    if (unstored.size > 0) await storeChanges()
    if (stored !== null && debounce.isDue() && canScan()) await request(stored)
  }

  /**
   * Stores every change, also of a platform that is already stored, to detect whether a person stopped the stored scan.
   */
  async function storeChanges (): Promise<void> {
    const paths = unstored
    unstored = new Set()
    try {
      const all = new Set([...stored?.paths ?? [], ...paths])
      if (stored !== null && await rows.update(stored.ids, all)) stored.paths = all
      else stored = { ids: [await rows.insert(paths)], paths }
    } catch (err) {
      unstored = new Set([...paths, ...unstored])
      throw err
    }
  }

  async function request ({ ids, paths }: { ids: string[], paths: Set<ChangedPath> }): Promise<void> {
    const state = await rows.readState(ids, paths, debounce.msSinceLast())
    if (state.is_waiting && state.is_busy) return
    if (state.is_waiting && !state.is_covered && !await requestScan(app, paths)) return
    await rows.end(ids, state.is_covered ? 'canceled' : 'finished')
    stored = null
    debounce.finishChanges(unstored.size > 0)
  }

  function change (path: ChangedPath): void {
    debounce.change(path)
    unstored.add(path)
    wake()
  }

  return {
    change,
    write (path) { if (debounce.isBusy(path)) change(path) },
    async resume () {
      const { ids, paths } = await rows.load()
      if (ids.length > 0) stored = { ids, paths: new Set(paths) }
      for (const path of paths) debounce.change(path)
      wake()
    },
    async close () {
      isClosed = true
      clearTimeout(timer)
      await stepping
    }
  }
}
