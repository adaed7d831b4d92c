import { setTimeout as sleep } from 'node:timers/promises'
import { readLibraryAgain } from '../disk/read-library.ts'
import type { LeasedPart } from '../parts/part-leases.ts'
import {
  type PartSummary, deleteOthersUnfinished, deleteParts, notifyWorkers, storeParts
} from '../parts/part-rows.ts'
import type { OtherReports } from '../parts/other-reports.ts'
import type { ScanIdentification } from './build-scan.ts'
import type { ScanContext } from './scan-context.ts'
import type { LibraryPlan, LibraryScan } from './scan-library.ts'

/** Interval at which the leader looks for free parts, once it has none itself. */
const WAIT_MS = 250
/** Interval at which the leader reads the totals of other workers, and wakes idle ones. */
const LOOK_MS = 1_000
/** The longest wait for other workers after a stop. */
const STOP_MS = 5_000

interface PartsScan extends Pick<ScanContext,
  'app' | 'payload' | 'role' | 'task' | 'parts' | 'libraries' | 'log' | 'signal'> {
  libraryScan: LibraryScan
  identification: Pick<ScanIdentification, 'finish'>
  /** Announces how many entries are about to be read. */
  expect: (count: number) => void
}

/** The scan of a library by the worker that runs its task. */
interface LeaderScan extends PartsScan { others: OtherReports }

/** Scans one part. A worker that cannot read its library leaves the part to others. */
async function scanPart (scan: PartsScan, part: LeasedPart): Promise<void> {
  const { app, payload, role, parts, libraries, libraryScan } = scan
  const library = libraries.list().find(({ root }) => root.id === part.library_id)
  if (library === undefined) throw new TypeError(`Library ${part.library_id} cannot be read and was leased`)
  // The leader announced all entries when it planned the scan.
  if (role === 'helper') scan.expect(part.entries)
  const platformId = await libraryScan.scanPart(part, library, payload.type)
  const isThere = platformId !== null || await libraries.attempt(library, async () => {
    await readLibraryAgain(library, app.library.rules)
  })
  if (!isThere && role === 'helper') {
    await parts.release(part)
    return
  }
  if (!isThere) await parts.write([], (db) => deleteOthersUnfinished(db, parts.holder, part.library_id))
  await parts.storeRead(part, platformId)
}

/**
 * Leases and scans parts until none is free. Each part is done when its lookups are stored, while the next one is read.
 *
 * @param onRead called after each part
 * @returns the last part, which is not done
 */
export async function scanFreeParts (scan: PartsScan, onRead: () => Promise<void>): Promise<LeasedPart | null> {
  const { role, parts, libraries, signal } = scan
  const finishing: Promise<void>[] = []
  let last: LeasedPart | null = null
  for (;;) {
    signal.throwIfAborted()
    const ids = libraries.list().map(({ root }) => root.id)
    const part = await parts.lease(ids, role === 'helper')
    if (part === null) break
    if (last !== null) finishing.push(parts.finish(last))
    finishing.at(-1)?.catch(() => { /* thrown by the await below */ })
    last = part
    await scanPart(scan, part)
    await onRead()
  }
  await Promise.all(finishing)
  return last
}

/** Wakes idle workers and reads the totals of others, again and again. @returns the function that ends this */
function watchOthers ({ app, task, others, log }: LeaderScan): () => Promise<void> {
  let looking: Promise<void> | undefined

  async function look (): Promise<void> {
    await notifyWorkers(app.db, task)
    await others.read()
  }

  const timer = setInterval(() => {
    looking ??= look()
      .catch((err: unknown) => { log.warn({ err }, 'the totals of other workers at the scan could not be read') })
      .finally(() => { looking = undefined })
  }, LOOK_MS)
  return async () => {
    clearInterval(timer)
    await looking
  }
}

/** Creates the function that ends the scan of libraries whose folders are all read. */
function createReview (scan: LeaderScan, plans: readonly LibraryPlan[]): () => Promise<PartSummary> {
  const { libraries, libraryScan, others } = scan
  const marked = new Set<number>()
  return async () => {
    const summary = await others.read()
    for (const { library, parts: planned } of plans) {
      const { id } = library.root
      const isRead = planned.length === 0 || summary.read_libraries.includes(id)
      if (!isRead || marked.has(id) || libraries.findLibraryDir(id) === undefined) continue
      marked.add(id)
      await libraries.attempt(library, () => libraryScan.finish(library))
    }
    return summary
  }
}

/**
 * Leads a library scan: stores its parts, scans them together with other workers, and waits for the last one.
 *
 * @returns the ids of the platforms whose ROMs were read
 */
export async function leadParts (scan: LeaderScan, plans: readonly LibraryPlan[]): Promise<number[]> {
  const { app, task, parts, identification, signal } = scan
  const planned = plans.flatMap((plan) => plan.parts)
  const review = createReview(scan, plans)
  await parts.write([], (db) => storeParts(db, task, planned))
  if (planned.length > 1) await notifyWorkers(app.db, task)
  const endWatch = watchOthers(scan)
  try {
    for (;;) {
      const last = await scanFreeParts(scan, async () => { await review() })
      await identification.finish()
      if (last !== null) await parts.finish(last)
      const { unfinished, platform_ids: ids } = await review()
      if (unfinished === 0) return ids
      await sleep(WAIT_MS, undefined, { signal })
    }
  } finally {
    await endWatch()
  }
}

/**
 * Ends the parts of a scan that is over. Workers that help with a stopped scan notice the stop, and get a moment to
 * store their last lookups.
 */
export async function endParts ({ app, task, others }: LeaderScan, isStopped: boolean): Promise<void> {
  const deadline = performance.now() + (isStopped ? STOP_MS : 0)
  while ((await others.read()).leased_by_others > 0 && performance.now() < deadline) await sleep(WAIT_MS)
  await deleteParts(app.db, task)
}
