import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { type ChangedPath, createDebounce } from './debounce.ts'
import { createScheduledRows, toPayload } from './scheduled-rows.ts'

const TICK_MAX_MS = 1_000
const TICKS_PER_DELAY = 10

/** The scan that waits for changes to come to rest. */
export interface WaitingScan {
  /** Something appeared or vanished. */
  change (place: ChangedPath): void
  /** Something was written to: the end of a copy is worth waiting for. */
  write (place: ChangedPath): void
  /** Goes on with what another worker had noted. Its changes count as made now, and its copies as under way. */
  resume (): Promise<void>
  close (): Promise<void>
}

/** @param canScan whether there is something to scan */
export function createWaitingScan (app: FastifyInstance, delayMs: number, canScan: () => boolean): WaitingScan {
  const rows = createScheduledRows(app.pg)
  const debounce = createDebounce(delayMs)
  const tickMs = Math.min(TICK_MAX_MS, delayMs / TICKS_PER_DELAY)
  /** What is noted in the database, and under which ids. */
  let noted: { ids: string[], places: Set<ChangedPath> } | null = null
  /** What is not noted yet. */
  let fresh = new Set<ChangedPath>()
  let timer: NodeJS.Timeout | undefined
  let stepping: Promise<void> = Promise.resolve()
  let isClosed = false

  function wake (): void {
    if (isClosed || timer !== undefined || (noted === null && fresh.size === 0)) return
    timer = setTimeout(() => {
      stepping = step().catch((err: unknown) => {
        app.log.error({ err }, 'the scan for changes of the library could not be asked for; it is tried again')
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

  /** Every change is noted, also of a place that is: so it is seen whether a person stopped what was noted before. */
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

  /** @returns false when another scan came first */
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
