import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { type PartProgress, type PartTotals, createPartTotals } from '../progress/part-progress.ts'
import type { Progress } from '../progress/scan-progress.ts'
import type { PlatformFolderRef } from '../rom-rows.ts'
import { TaskHandedOver } from '../../tasks/definitions.ts'
import {
  type Holder, type PlannedPart, leasePart, lockParts, lockTask, releaseParts, renewLeases, storeDone, storeRead
} from './part-rows.ts'

const RENEW_MS = 1_000

/** A leased part with its progress. */
export interface LeasedPart extends PlannedPart, PartTotals { isDone: boolean }

/**
 * How a run takes part in a scan: it leads a library scan, helps with one, or scans single ROMs, which are no parts.
 */
export type ScanRole = 'leader' | 'helper' | 'single'

interface LeaseServices {
  app: FastifyInstance
  log: Logger
  /** The id of the scan's task. */
  task: string
  role: ScanRole
  progress: Pick<Progress, 'add' | 'problem'>
  signal: AbortSignal
  /** Aborts all work of this run. */
  abort: (reason: Error) => void
}

const keyOf = ({ id, library_id: library }: PlatformFolderRef) => `${library} ${id}`

/** Repeats a renewal until it is stopped. A failed one is logged. */
function createRenewal (log: Logger, renew: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> | undefined

  async function attempt (): Promise<void> {
    try {
      await renew()
    } catch (err) {
      log.warn({ err }, 'the leases of a scan could not be renewed')
    }
    renewing = undefined
  }

  return {
    start (): void { timer ??= setInterval(() => { renewing ??= attempt() }, RENEW_MS) },

    async stop (): Promise<void> {
      clearInterval(timer)
      await renewing
    }
  }
}

/**
 * Creates the leases of one run of a library scan. Every write of a part checks in its transaction that the run still
 * has the lease.
 */
export function createPartLeases ({ app, log, task, role, progress, signal, abort }: LeaseServices) {
  const isDivided = role !== 'single'
  const holder: Holder = { task, worker: app.workers.id, token: randomUUID() }
  const parts = new Set<LeasedPart>()
  const byPlatform = new Map<string, LeasedPart>()
  const whole: PartProgress = { add: progress.add, problem: progress.problem, begin: () => () => {} }

  function lose (): never {
    const err = new TaskHandedOver('Another worker continues this part of the scan, or the scan is over')
    abort(err)
    throw err
  }

  const toReport = (part: LeasedPart) => ({ library_id: part.library_id, folder: part.folder, ...part.totals() })
  const listUnfinished = () => [...parts].filter(({ isDone }) => !isDone)

  const renewal = createRenewal(log, async () => {
    const unfinished = listUnfinished()
    if (unfinished.length === 0) return
    // A stop of the leader is the stop of its task.
    if (!await renewLeases(app.db, holder, unfinished.map(toReport), role === 'helper')) lose()
  })

  /**
   * Checks in a transaction that this run still may write for platform folders; for the scan itself without folders.
   * Nobody else may until the transaction ends.
   *
   * @throws TaskHandedOver
   */
  async function check (tx: Db, platforms: readonly PlatformFolderRef[]): Promise<void> {
    if (!isDivided) return
    const concerned = new Set(platforms.map((platform) => byPlatform.get(keyOf(platform)) ?? lose()))
    const isHeld = concerned.size === 0 ? await lockTask(tx, holder) : await lockParts(tx, holder, [...concerned])
    if (!isHeld) lose()
  }

  return {
    holder,

    /** Leases a free part of these libraries. @returns null if there is none */
    async lease (libraryIds: readonly number[], isLargestFirst: boolean): Promise<LeasedPart | null> {
      const alive = await app.workers.listAlive()
      const planned = await leasePart(app.db, holder, { libraryIds, alive, isLargestFirst })
      if (planned === null) return null
      const part = { ...planned, ...createPartTotals(progress), isDone: false }
      parts.add(part)
      renewal.start()
      return part
    },

    /** Ties work on a platform folder to a part. */
    assign (platform: PlatformFolderRef, part: LeasedPart): void {
      byPlatform.set(keyOf(platform), part)
    },

    /** Returns the progress of the part with this platform folder; that of the whole scan if no part has it. */
    of: (platform: PlatformFolderRef): PartProgress => byPlatform.get(keyOf(platform)) ?? whole,

    check,

    /** Writes for platform folders, in a transaction with the check of their leases. @throws TaskHandedOver */
    async write<T> (platforms: readonly PlatformFolderRef[], work: (db: Db) => Promise<T>): Promise<T> {
      if (!isDivided) return await work(app.db)
      return await inTransaction(app.db, async (tx) => {
        await check(tx, platforms)
        return await work(tx)
      })
    },

    /** Stores that the folder of a part was read. @param platformId null if it could not be read */
    async storeRead (part: LeasedPart, platformId: number | null): Promise<void> {
      if (!await storeRead(app.db, holder, part, platformId)) lose()
    },

    /** Stores that a part is done, as soon as all its ROMs are looked up and stored. */
    async finish (part: LeasedPart): Promise<void> {
      await part.idle()
      signal.throwIfAborted()
      if (!await storeDone(app.db, holder, toReport(part))) lose()
      part.isDone = true
    },

    /** Ends the lease of a part that this worker cannot read. */
    async release (part: LeasedPart): Promise<void> {
      parts.delete(part)
      await releaseParts(app.db, holder, [toReport(part)])
    },

    /** Stops the renewal of leases. Called after the last write. */
    stop: renewal.stop,

    /** Ends the leases of unfinished parts. */
    async close (): Promise<void> {
      if (listUnfinished().length > 0) await releaseParts(app.db, holder, listUnfinished().map(toReport))
    }
  }
}
export type PartLeases = ReturnType<typeof createPartLeases>
