import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { countEdit } from '../library-versions/version-rows.ts'
import { findPlatforms, reservePlatforms } from '../platforms/import-rows.ts'
import { hasRoms, reserveRoms } from '../roms/import-rows.ts'
import type { ImportRecord, Importer, RecordKind, Skipped } from './contract.ts'
import { createKeptIds } from './kept-ids.ts'
import { readBatches } from './read-records.ts'
import { createReferences } from './references.ts'
import type { Report } from './report.ts'
import { type Imported, insertImported, selectImported } from './rows.ts'
import { groupWriter, hiddenWriter, userWriter } from './writers/accounts.ts'
import { createAssetWriter } from './writers/assets.ts'
import { collectionWriter, favoriteTrackWriter, playlistWriter, smartCollectionWriter } from './writers/collections.ts'
import {
  deviceSyncWriter, deviceWriter, playSessionWriter, syncSessionWriter, tokenWriter
} from './writers/devices.ts'
import { platformWriter, romWriter } from './writers/library.ts'
import { markWriter, noteWriter } from './writers/marks.ts'
import { createPictureWriter } from './writers/pictures.ts'
import type { Batch, ImportServices, Stored, Writer } from './writers/writer.ts'

/** One import of a source. */
export interface ImportJob {
  importer: Importer
  report: Report
  signal: AbortSignal
  /** The user of records without one. */
  userId: number | null
  app: ImportServices['app']
  config: ImportServices['config']
  isDryRun: boolean
  /** The id of the task, which names its folder of unfinished files. */
  taskId: string
  /** Stores the report while the import runs. */
  onProgress (kind: RecordKind): Promise<void>
}

const SCAN_POLL_MS = 500

/** Thrown to roll a dry run back. */
class DryRunEnded extends Error {
  override readonly name = 'DryRunEnded'
}

const isConstraint = (err: unknown) => err instanceof Error && /^(?:22|23)/.test(String((err as { code?: unknown }).code ?? ''))

/** Creates the import of all kinds on one handle of the database. */
async function createKinds (job: ImportJob, db: Db) {
  const { importer, report, signal, app, config, isDryRun } = job
  const source = importer.identity
  const services: ImportServices = {
    app, config, isDryRun, source, keptIds: await createKeptIds(db, source), warn: report.warn
  }
  const toBatch = (tx: Db): Batch => ({ tx, services, refs: createReferences(tx, source, job.userId) })

  /** Writes records in one transaction. A record that the database refuses is left out, and the others are written. */
  async function writeGuarded<Kind extends RecordKind> (
    tx: Db, writer: Writer<Kind>, records: readonly ImportRecord<Kind>[]
  ): Promise<Stored[]> {
    try {
      return await tx.transact((part) => writer.write(toBatch(part), records))
    } catch (err) {
      if (!isConstraint(err)) throw err
      app.log.warn({ err, kind: writer.kind, records: records.length }, 'the database refused records of an import')
      if (records.length === 1) return [{ reason: `the database refused it: ${err instanceof Error ? err.message : ''}` }]
    }
    const stored: Stored[] = []
    for (const record of records) stored.push(...await writeGuarded(tx, writer, [record]))
    return stored
  }

  async function importBatch<Kind extends RecordKind> (
    writer: Writer<Kind>, records: readonly ImportRecord<Kind>[]
  ): Promise<void> {
    const { kind } = writer
    const outcome = await inTransaction(db, async (tx) => {
      const imported = await selectImported(tx, source, kind, records.map(writer.idOf))
      const open = records.filter((record) => !imported.has(writer.idOf(record)))
      const stored = open.length === 0 ? [] : await writeGuarded(tx, writer, open)
      const ids = stored.flatMap((one, index) => {
        const record = open[index]
        return 'reason' in one || record === undefined ? [] : [{ kind, old_id: writer.idOf(record), new_id: one.id }]
      })
      await insertImported(tx, source, ids)
      const known = records.flatMap((record) => toKnown(record, imported.get(writer.idOf(record))))
      if (known.length > 0) await writer.complete?.(toBatch(tx), known)
      return { open, stored, known: known.length }
    })
    report.count(kind, 'present', outcome.known)
    for (const [index, one] of outcome.stored.entries()) {
      const record = outcome.open[index]
      if (record === undefined) continue
      if ('reason' in one) report.skip({ kind, id: writer.idOf(record), name: writer.nameOf(record), reason: one.reason })
      else report.count(kind, one.as)
    }
  }

  /** @param after runs after each batch is committed */
  async function importKind<Kind extends RecordKind> (
    writer: Writer<Kind>, after?: (batch: Batch, records: readonly ImportRecord<Kind>[], signal: AbortSignal) => Promise<Skipped[]>
  ): Promise<void> {
    for await (const records of readBatches(importer, writer.kind, report, signal)) {
      await importBatch(writer, records)
      for (const skipped of await after?.(toBatch(db), records, signal) ?? []) report.skip(skipped)
      await job.onProgress(writer.kind)
    }
  }

  const writeAssets = createAssetWriter(importer, services)
  const pictures = createPictureWriter(importer, services, job.taskId)

  async function importAssets (): Promise<void> {
    for await (const records of readBatches(importer, 'asset', report, signal)) {
      const open: ImportRecord<'asset'>[] = []
      for (const kind of ['save', 'state', 'screenshot'] as const) {
        const ofKind = records.filter((record) => record.kind === kind)
        const imported = await selectImported(db, source, kind, ofKind.map(({ id }) => id))
        open.push(...ofKind.filter(({ id }) => !imported.has(id)))
      }
      report.count('asset', 'present', records.length - open.length)
      for (const outcome of await writeAssets(toBatch(db), open, signal)) {
        const { record } = outcome
        if ('as' in outcome) report.count('asset', outcome.as)
        else report.skip({ kind: 'asset', id: `${record.kind} ${record.id}`, name: record.file.path, reason: outcome.reason })
      }
      await job.onProgress('asset')
    }
  }

  return {
    close: pictures.close,

    async importAccounts (): Promise<void> {
      await importKind(groupWriter)
      await importKind(userWriter, pictures.writeAvatars)
    },

    /** Lets ROMs keep their ids: the first scan gives a reserved id to the file that it was reserved for. */
    async reserveIds (libraryId: number): Promise<void> {
      const platformIds = new Map<string, number>()
      for await (const records of readBatches(importer, 'platform', report, signal)) {
        await inTransaction(db, async (tx) => {
          const ids = await services.keptIds.choose(tx, 'platforms', records.map(({ id }) => id))
          const present = await findPlatforms(tx, records.map((record) => record.fs_slug))
          const kept = records.flatMap((record, index) => {
            const id = present.get(record.fs_slug)?.id ?? ids[index] ?? null
            if (id !== null) platformIds.set(record.id, id)
            const { fs_slug: folder, custom_name: name, description } = record
            return id === null ? [] : [{ id, fs_slug: folder, custom_name: name, description }]
          })
          await reservePlatforms(tx, kept)
        })
      }
      for await (const records of readBatches(importer, 'rom', report, signal)) {
        await inTransaction(db, async (tx) => {
          const ids = await services.keptIds.choose(tx, 'roms', records.map(({ id }) => id))
          await reserveRoms(tx, records.flatMap((record, index) => {
            const [id = null, platform] = [ids[index], platformIds.get(record.platform_id)]
            return id === null || platform === undefined
              ? []
              : [{
                  id, library_id: libraryId, platform_id: platform, fs_name: record.fs_name,
                  fs_size_bytes: record.fs_size_bytes ?? 0, sha1_hash: record.sha1?.toLowerCase() ?? ''
                }]
          }))
        })
      }
      report.forget(['platform', 'rom'])
    },

    async importRest (): Promise<void> {
      await importKind(platformWriter)
      await importKind(romWriter, pictures.writeCovers)
      await importKind(hiddenWriter)
      await importKind(markWriter)
      await importKind(noteWriter)
      await importKind(deviceWriter)
      await importAssets()
      await importKind(deviceSyncWriter)
      await importKind(syncSessionWriter)
      await importKind(playSessionWriter)
      await importKind(tokenWriter)
      await importKind(collectionWriter, pictures.writeCollectionCovers)
      await importKind(smartCollectionWriter)
      await importKind(playlistWriter)
      await importKind(favoriteTrackWriter)
    }
  }
}

const toKnown = <Kind extends RecordKind>(record: ImportRecord<Kind>, imported: Imported | undefined) =>
  imported === undefined ? [] : [{ record, id: imported.new_id, at: imported.created_at }]

/** Scans the library without asking providers, because the import brings their ids. @throws Error if the scan fails */
async function scan ({ app, signal }: ImportJob): Promise<void> {
  const task = await app.scans.request(
    { type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], apis: [] }, null)
  for (;;) {
    signal.throwIfAborted()
    const { status, error } = await app.tasks.get(app.db, task.id)
    if (status === 'finished') return
    if (status !== 'queued' && status !== 'started') {
      throw new Error(`The scan before the import ended as ${status}${error === null || error === undefined ? '' : `: ${error}`}; run svc scan, then import again`)
    }
    await sleep(SCAN_POLL_MS, undefined, { signal })
  }
}

/** Imports everything. Scans first if the library was never scanned. */
async function runForReal (job: ImportJob): Promise<void> {
  const { app } = job
  const kinds = await createKinds(job, app.db)
  try {
    await kinds.importAccounts()
    if (!await hasRoms(app.db)) {
      const [library] = await app.library.list()
      if (library !== undefined) await kinds.reserveIds(library.id)
      await scan(job)
    }
    await kinds.importRest()
  } finally {
    await kinds.close()
    await countEdit(app.db)
  }
}

/** Does everything in one transaction that is rolled back, so that the report tells what an import would do. */
async function runDry (job: ImportJob): Promise<void> {
  const { app, report } = job
  if (!await hasRoms(app.db)) {
    report.warn('The library was never scanned, so no ROM is found here. The import scans first; run svc scan for a better plan')
  }
  try {
    await app.db.transact(async (tx) => {
      const kinds = await createKinds(job, tx)
      await kinds.importAccounts()
      await kinds.importRest()
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
