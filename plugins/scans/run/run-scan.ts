import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { Platform } from '../../platforms/entities.ts'
import { recoverRenames } from '../../renames/rename-rom.ts'
import { conflict } from '../../../core/errors.ts'
import { TaskHandedOver } from '../../tasks/definitions.ts'
import type { SharedHasher } from '../../hashing/shared-hasher.ts'
import type { ScanProblem } from '../../matching/scan-types.ts'
import { explainWriteError } from '../database-errors.ts'
import { scanEntries } from './scan-entries.ts'
import { type LibraryPlan, createLibraryScan } from './scan-library.ts'
import { createDiskScan, createScanArtwork, createScanIdentification } from './build-scan.ts'
import { scanRoms } from './scan-roms.ts'
import type { PartProgress } from '../progress/part-progress.ts'
import { createOtherReports } from '../parts/other-reports.ts'
import { endParts, leadParts, scanFreeParts } from './scan-parts.ts'
import { type ScanRun, createScanContext } from './scan-context.ts'
import { readUnfinished } from './unfinished-rows.ts'

/** A step with the scanned platforms at the end, such as exports. Returns the problems it had. */
export type AfterScan = (platformIds: readonly number[], signal: AbortSignal) => Promise<readonly ScanProblem[]>

/** A step before the library is read. */
export type BeforeScan = () => Promise<void>

/** The parts of the server that all scans use. */
export interface ScanServices { hashers: SharedHasher, before: readonly BeforeScan[], after: readonly AfterScan[] }

/** Copies the settings for one scan; changes during the scan apply to the next one. */
function snapshotSettings (app: FastifyInstance, live: Config): Config {
  const config = { ...live }
  const unusable = config.file.findProblem()
  if (unusable !== null) app.log.warn({ reason: unusable }, 'config.yml is invalid; its last valid settings apply')
  return config
}

async function openScan (app: FastifyInstance, config: Config, hashers: SharedHasher, run: ScanRun) {
  const [unfinished, roots, lease] = await Promise.all([
    readUnfinished(app.db, run), app.library.list(), hashers.acquire(config)
  ])
  const shared = createScanContext(app, config, run, roots)
  const artwork = createScanArtwork(shared)
  const identification = createScanIdentification(shared, artwork)
  const disk = createDiskScan(shared, lease, unfinished, { artwork, identification })
  const libraryScan = createLibraryScan({ ...shared, unfinished, ...disk })
  const others = createOtherReports(app, shared.parts.holder, shared.progress)
  return { ...shared, artwork, identification, disk, libraryScan, others, expect: disk.expect }
}
type Scan = Awaited<ReturnType<typeof openScan>>

/** Cleans up the half-done work of scans that crashed. */
async function cleanUp ({ app, artwork, log }: Scan, before: readonly BeforeScan[]): Promise<void> {
  await artwork.clear().catch((err: unknown) => { log.warn({ err }, 'half-written artwork could not be deleted') })
  await recoverRenames({ db: app.db, library: app.library, workers: app.workers })
  for (const step of before) await step()
}

/** Scans what the payload asks for. @returns the ids of the scanned platforms */
async function scanDisk (scan: Scan): Promise<number[]> {
  const { payload, libraries, chosen, disk: { platformScan } } = scan
  if (chosen.length === 0) {
    throw conflict(`No library has one of the IDs ${payload.library_ids?.join(', ')}; see GET /api/libraries`)
  }
  await libraries.read()
  if (payload.roms_ids.length > 0) return await scanRoms({ ...scan, platformScan }, payload.roms_ids)
  if (payload.fs_names === undefined) return await scanLibraries(scan)
  return await scanEntries({ ...scan, platformScan }, payload.platforms, payload.fs_names)
}

async function scanLibraries (scan: Scan): Promise<number[]> {
  const { app, payload, libraries, libraryScan, expect } = scan
  const named = await app.db.em.find(Platform, { id: [...payload.platforms] }, { fields: ['fs_slug'] })
  const slugs = named.map((platform) => platform.fs_slug)
  const plans: LibraryPlan[] = []
  for (const library of libraries.listChosen()) plans.push(await libraryScan.plan(payload, slugs, library))
  expect(plans.flatMap((plan) => plan.parts).reduce((sum, { entries }) => sum + entries, 0))
  return await leadParts(scan, plans)
}

async function storeLast ({ identification, log }: Scan): Promise<void> {
  await identification.finish().catch((err: unknown) => { log.warn({ err }, 'the last matches could not be stored') })
}

/** Reports problems of plugins and artwork. */
async function reportProblems (
  { identification, artwork, log }: Scan, progress: Pick<PartProgress, 'problem'>
): Promise<void> {
  for (const { provider, reason } of identification.complaints()) progress.problem({ platform: '', path: '', reason, provider })
  await artwork.problems().then((problems) => { problems.forEach(progress.problem) })
    .catch((err: unknown) => { log.warn({ err }, 'the problems with artwork could not be reported') })
}

async function close ({ parts, listeners, progress, artwork, disk, log }: Scan): Promise<void> {
  await parts.close().catch((err: unknown) => { log.warn({ err }, 'the leases of a scan could not be ended') })
  progress.close()
  listeners.close()
  await progress.flush().catch((err: unknown) => { log.warn({ err }, 'the last totals could not be stored') })
  await disk.close()
  await artwork.close()
}

const isHandedOver = (run: ScanRun, err: unknown) =>
  err instanceof TaskHandedOver || (run.signal.aborted && run.signal.reason instanceof TaskHandedOver)

/** Runs one scan from its payload to its last total. Work that was done before an error stays. */
export async function runScan (
  app: FastifyInstance, startConfig: Config, run: ScanRun, { hashers, before, after }: ScanServices
): Promise<void> {
  const scan = await openScan(app, snapshotSettings(app, startConfig), hashers, run)
  const { identification, signal, progress, parts, log } = scan
  let failure: unknown = null
  try {
    await cleanUp(scan, before)
    const platformIds = await scanDisk(scan)
    await identification.finish()
    signal.throwIfAborted()
    for (const step of after) (await step(platformIds, signal)).forEach(progress.problem)
  } catch (err) {
    failure = err
    throw explainWriteError(err)
  } finally {
    scan.end(new Error('The scan is over'))
    await storeLast(scan)
    await reportProblems(scan, progress)
    await parts.stop()
    // Another worker continues with the parts of a scan that was handed over.
    if (run.role === 'leader' && !isHandedOver(run, failure)) {
      await endParts(scan, run.signal.aborted)
        .catch((err: unknown) => { log.warn({ err }, 'the parts of a scan could not be deleted') })
    }
    await close(scan)
  }
}

/** Helps with a library scan that another worker leads, until no part is free. */
export async function helpScan (
  app: FastifyInstance, startConfig: Config, run: ScanRun, { hashers }: Pick<ScanServices, 'hashers'>
): Promise<void> {
  const scan = await openScan(app, snapshotSettings(app, startConfig), hashers, run)
  const { libraries, identification, parts, signal } = scan
  try {
    await libraries.read()
    const last = await scanFreeParts(scan, async () => {})
    await identification.finish()
    signal.throwIfAborted()
    if (last === null) return
    // The worker that leads the scan reports the problems of plugins and artwork with those of the last part.
    await reportProblems(scan, last)
    await parts.finish(last)
  } finally {
    scan.end(new Error('No part of the scan is free'))
    await storeLast(scan)
    await parts.stop()
    await close(scan)
  }
}
