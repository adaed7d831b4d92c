import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../core/database/db.ts'
import { conflict } from '../../core/errors.ts'
import { countEdit } from '../library-versions/version-rows.ts'
import { hasRoms } from '../roms/import-rows.ts'
import { importAssets } from './import-assets.ts'
import { type ImportContext, importKind } from './import-kind.ts'
import { createKeptIds, renumberAll } from './kept-ids.ts'
import { hideTables } from './planned-rows.ts'
import { reserveIds } from './reserve-ids.ts'
import { allowIdleTransaction } from './rows.ts'
import { groupWriter, hiddenWriter, userWriter } from './writers/accounts.ts'
import { collectionWriter, favoriteTrackWriter, playlistWriter, smartCollectionWriter } from './writers/collections.ts'
import {
  deviceSyncWriter, deviceWriter, playSessionWriter, syncSessionWriter, tokenWriter
} from './writers/devices.ts'
import { platformWriter, romWriter } from './writers/library.ts'
import { markWriter, noteWriter } from './writers/marks.ts'
import { type PictureWriter, createPictureWriter } from './writers/pictures.ts'
import type { ImportServices } from './writers/writer.ts'

/** One import of a source. */
export interface ImportJob extends Omit<ImportContext, 'db' | 'services'> {
  app: ImportServices['app']
  config: ImportServices['config']
  isDryRun: boolean
  /** The id of the task, which names its folder of unfinished files. */
  taskId: string
}

const SCAN_POLL_MS = 500
/** The progress of an import while it waits for a scan of the library. */
export const SCANNING = 'scan'

/** Thrown to roll a dry run back. */
class DryRunEnded extends Error {
  override readonly name = 'DryRunEnded'
}

/** @param findDb returns the handle for one piece of work */
async function createContext (job: ImportJob, findDb: () => Db): Promise<ImportContext> {
  const { importer, report, app, config, isDryRun } = job
  const source = importer.identity
  const keptIds = isDryRun ? renumberAll : await createKeptIds(findDb(), source)
  const services: ImportServices = { app, config, isDryRun, source, keptIds, warn: report.warn }
  // A handle collects the entities that it loads, so one handle for the whole import would become slower and slower.
  return { ...job, get db () { return findDb() }, services }
}

async function importAccounts (context: ImportContext, pictures: PictureWriter): Promise<void> {
  await importKind(context, groupWriter)
  await importKind(context, userWriter, pictures.writeAvatars)
}

async function importRest (context: ImportContext, pictures: PictureWriter): Promise<void> {
  await importKind(context, platformWriter)
  await importKind(context, romWriter, pictures.writeCovers)
  await importKind(context, hiddenWriter)
  await importKind(context, markWriter)
  await importKind(context, noteWriter)
  await importKind(context, deviceWriter)
  await importAssets(context)
  await importKind(context, deviceSyncWriter)
  await importKind(context, syncSessionWriter)
  await importKind(context, playSessionWriter)
  await importKind(context, tokenWriter)
  await importKind(context, collectionWriter, pictures.writeCollectionCovers)
  await importKind(context, smartCollectionWriter)
  await importKind(context, playlistWriter)
  await importKind(context, favoriteTrackWriter)
}

/** Scans the library without asking providers, because the import brings their ids. @throws ApiError CONFLICT */
async function scan ({ app, signal, onProgress }: ImportJob): Promise<void> {
  const task = await app.scans.request(
    { type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], apis: [] }, null)
  for (;;) {
    signal.throwIfAborted()
    const { status, error } = await app.tasks.get(app.db, task.id)
    if (status === 'finished') return
    if (status !== 'queued' && status !== 'started') {
      const reason = typeof error === 'string' ? `: ${error}` : ''
      throw conflict(`The scan before the import ended as ${status}${reason}; run svc scan, then import again`)
    }
    await onProgress(SCANNING)
    await sleep(SCAN_POLL_MS, undefined, { signal })
  }
}

/** Imports everything. Scans first if the library was never scanned. */
async function runForReal (job: ImportJob): Promise<void> {
  const { app } = job
  const context = await createContext(job, () => app.db)
  const pictures = createPictureWriter(job.importer, context.services, job.taskId)
  try {
    await importAccounts(context, pictures)
    if (!await hasRoms(app.db)) {
      const [library] = await app.library.list()
      if (library !== undefined) await reserveIds(context, library.id)
      await scan(job)
    }
    await importRest(context, pictures)
  } finally {
    await pictures.close()
    await countEdit(app.db)
  }
}

/** Does everything on copies of the tables, which vanish, so that the report tells what an import would do. */
async function runDry (job: ImportJob): Promise<void> {
  const { app, report } = job
  if (!await hasRoms(app.db)) {
    report.warn('The library was never scanned, so no ROM is found here. The import scans first; run svc scan for a better plan')
  }
  try {
    await app.db.transact(async (tx) => {
      await allowIdleTransaction(tx)
      await hideTables(tx)
      const context = await createContext(job, () => tx)
      const pictures = createPictureWriter(job.importer, context.services, job.taskId)
      await importAccounts(context, pictures)
      await importRest(context, pictures)
      throw new DryRunEnded()
    })
  } catch (err) {
    if (!(err instanceof DryRunEnded)) throw err
  }
}

export async function runImport (job: ImportJob): Promise<void> {
  Object.assign(job.report.report.absent, job.importer.absent)
  await (job.isDryRun ? runDry(job) : runForReal(job))
}
