import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { type ChangedPath, createDebounce } from './debounce.ts'
import { createScheduledRows, toPayload } from './scheduled-rows.ts'

const TICK_MAX_MS = 1_000
const TICKS_PER_DELAY = 10

/** A scan that waits for changes to come to rest. */
export interface WaitingScan {
  /** Records that an entry appeared or vanished. */
  change (place: ChangedPath): void
  /** Records a write, because the scan waits for the end of a copy. */
  write (place: ChangedPath): void
  /** Resumes the stored scan of another worker. Its changes count as made now, and its copies as running. */
  resume (): Promise<void>
  close (): Promise<void>
}

/** Creates a waiting scan. @param canScan returns true if a library is there to scan */
export function createWaitingScan (app: FastifyInstance, delayMs: number, canScan: () => boolean): WaitingScan {
  const rows = createScheduledRows(app.db)
  const debounce = createDebounce(delayMs)
  const tickMs = Math.min(TICK_MAX_MS, delayMs / TICKS_PER_DELAY)
  /** The changes stored in the database, and the ids of their rows. */
  let noted: { ids: string[], places: Set<ChangedPath> } | null = null
  /** The changes that are not stored yet. */
  let fresh = new Set<ChangedPath>()
  let timer: NodeJS.Timeout | undefined
  let stepping: Promise<void> = Promise.resolve()
  let isClosed = false

  function wake (): void {
    if (isClosed || timer !== undefined || (noted === null && fresh.size === 0)) return
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
    if (fresh.size > 0) await note()
    if (noted !== null && debounce.isDue() && canScan()) await request(noted)
  }

  /**
   * Stores every change, also of a platform that is already stored, to detect whether a person stopped the stored scan.
   */
  async function note (): Promise<void> {
    const places = fresh
    fresh = new Set()
    try {
      const all = new Set([...noted?.places ?? [], ...places])
      if (noted !== null && await rows.update(noted.ids, all)) noted.places = all
      else noted = { ids: [await rows.insert(places)], places }
    } catch (err) {
      fresh = new Set([...places, ...fresh])
      throw err
    }
  }

  async function request ({ ids, places }: { ids: string[], places: Set<ChangedPath> }): Promise<void> {
    const outlook = await rows.look(ids, places, debounce.sinceLast())
    if (outlook.is_waiting && outlook.is_busy) return
    if (outlook.is_waiting && !outlook.is_covered && !await requestScan(places)) return
    await rows.end(ids, outlook.is_covered ? 'canceled' : 'finished')
    noted = null
    debounce.finishChanges(fresh.size > 0)
  }

  /** Requests the scan. @returns false if another scan came first */
  async function requestScan (places: ReadonlySet<ChangedPath>): Promise<boolean> {
    const { platform_fs_slugs: slugs, is_everything: isEverything } = toPayload(places)
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

  function change (place: ChangedPath): void {
    debounce.change(place)
    fresh.add(place)
    wake()
  }

  return {
    change,
    write (place) { if (debounce.isBusy(place)) change(place) },
    async resume () {
      const { ids, places } = await rows.load()
      if (ids.length > 0) noted = { ids, places: new Set(places) }
      for (const place of places) debounce.change(place)
      wake()
    },
    async close () {
      isClosed = true
      clearTimeout(timer)
      await stepping
    }
  }
}
