import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { Platform } from '../../platforms/entities.ts'
import { recoverRenames } from '../../renames/rename-rom.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import type { SharedHasher } from '../../hashing/shared-hasher.ts'
import type { ScanProblem } from '../../matching/scan-types.ts'
import type { ScanPayload } from '../schemas.ts'
import { explainDatabaseError } from '../database-errors.ts'
import { scanEntries } from './scan-entries.ts'
import { createLibraryScan } from './scan-library.ts'
import { createDiskScan, createScanArtwork, createScanIdentification } from './build-scan.ts'
import { scanRoms } from './scan-roms.ts'
import { createScanContext } from './scan-context.ts'
import { readUnfinished } from './unfinished-rows.ts'

/** A step with the scanned platforms at the end, such as exports. Returns the problems it had. */
export type AfterScan = (platformIds: readonly number[], signal: AbortSignal) => Promise<readonly ScanProblem[]>

/** A step before the library is read. */
export type BeforeScan = () => Promise<void>

/** The parts of the server that all scans use. */
interface ScanServices { hashers: SharedHasher, before: readonly BeforeScan[], after: readonly AfterScan[] }

/** Copies the settings for one scan; changes during the scan apply to the next one. */
function snapshotSettings (app: FastifyInstance, live: Config): Config {
  const config = { ...live }
  const unusable = config.file.findProblem()
  if (unusable !== null) app.log.warn({ reason: unusable }, 'config.yml is invalid; its last valid settings apply')
  return config
}

async function openScan (app: FastifyInstance, config: Config, hashers: SharedHasher, run: TaskRun<ScanPayload>) {
  const [unfinished, roots, lease] = await Promise.all([
    readUnfinished(app.db, run), app.library.list(), hashers.acquire(config)
  ])
  const shared = createScanContext(app, config, run, roots)
  const artwork = createScanArtwork(shared)
  const identification = createScanIdentification(shared, artwork)
  const disk = createDiskScan(shared, lease, unfinished, { artwork, identification })
  return { ...shared, unfinished, artwork, identification, disk }
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
  const { payload, libraries, disk: { platformScan } } = scan
  await libraries.read()
  if (payload.roms_ids.length > 0) return await scanRoms({ ...scan, platformScan }, payload.roms_ids)
  if (payload.fs_names === undefined) return await scanLibraries(scan)
  return await scanEntries({ ...scan, platformScan }, payload.platforms, payload.fs_names)
}

async function scanLibraries ({ app, config, payload, libraries, disk, ...services }: Scan): Promise<number[]> {
  const { platformScan, expect } = disk
  const libraryScan = createLibraryScan({ app, config, platformScan, expect, ...services })
  const named = await app.db.em.find(Platform, { id: [...payload.platforms] }, { fields: ['fs_slug'] })
  const slugs = named.map((platform) => platform.fs_slug)
  const plans = await Promise.all(libraries.listChosen().map((library) => libraryScan.plan(payload, slugs, library)))
  const ids = new Set<number>()
  for (const plan of plans) {
    const scanned = await libraries.attempt(plan.library, () => libraryScan.scan(plan, payload.type))
    for (const id of scanned ?? []) ids.add(id)
  }
  return [...ids]
}

/** Stores the last matches, and reports problems of plugins and artwork. */
async function finishScan ({ identification, artwork, progress, log }: Scan): Promise<void> {
  await identification.finish().catch((err: unknown) => {
    log.warn({ err }, 'the last matches could not be stored')
  })
  for (const reason of identification.complaints()) progress.problem({ platform: '', path: '', reason })
  await artwork.problems().then((problems) => { problems.forEach(progress.problem) })
    .catch((err: unknown) => { log.warn({ err }, 'the problems with artwork could not be reported') })
}

async function close ({ listeners, progress, artwork, disk, log }: Scan): Promise<void> {
  progress.close()
  listeners.close()
  await progress.flush().catch((err: unknown) => { log.warn({ err }, 'the last totals could not be stored') })
  await disk.close()
  await artwork.close()
}

/** Runs one scan from its payload to its last total. Work that was done before an error stays. */
export async function runScan (
  app: FastifyInstance, startConfig: Config, run: TaskRun<ScanPayload>, { hashers, before, after }: ScanServices
): Promise<void> {
  const scan = await openScan(app, snapshotSettings(app, startConfig), hashers, run)
  const { identification, signal, progress } = scan
  try {
    await cleanUp(scan, before)
    const platformIds = await scanDisk(scan)
    await identification.finish()
    signal.throwIfAborted()
    for (const step of after) (await step(platformIds, signal)).forEach(progress.problem)
  } catch (err) {
    throw explainDatabaseError(err)
  } finally {
    scan.end(new Error('The scan is over'))
    await finishScan(scan)
    await close(scan)
  }
}
