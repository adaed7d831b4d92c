import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { type Report, createReport } from './report.ts'
import { upsertRun } from './rows.ts'
import { type ImportPayload, ImportPayloadSchema } from './schemas.ts'
import { TASK_NAME, findImporter } from './service.ts'

/** The timeout of a run. The next run continues. */
const TIMEOUT_SECONDS = 86_400
const REPORT_EVERY_MS = 1_000

/** Stores the report of a run, and the counts as the progress of its task. */
function createProgress (app: FastifyInstance, run: TaskRun<ImportPayload>, report: Report) {
  let storedAt = -Infinity

  async function store (current: string | null): Promise<void> {
    storedAt = performance.now()
    const { counts, skipped_count: skipped } = report.report
    const { importer, dry_run: isDry } = run.payload
    await run.report({ importer, dry_run: isDry, current, listed: report.listed, skipped_count: skipped, counts })
    await upsertRun(app.db, { id: run.id, importer, dry_run: isDry }, report.report)
  }

  return {
    store,
    async storeSometimes (current: string): Promise<void> {
      if (performance.now() - storedAt >= REPORT_EVERY_MS) await store(current)
    }
  }
}

/** Defines the task that imports the library of another program. */
export function defineImport (app: FastifyInstance, config: Config): TaskDefinition {
  const folder = join(config.data_dir, 'imports')
  const mask = createPathMask(config)

  async function work (
    run: TaskRun<ImportPayload>, report: Report, onProgress: (current: string) => Promise<void>
  ): Promise<void> {
    const { id: taskId, payload, signal } = run
    const { user_id: userId, dry_run: isDryRun } = payload
    const definition = findImporter(payload.importer)
    const workFolder = join(folder, taskId)
    // A killed worker leaves its folder, and only one import runs at a time.
    await rm(folder, { recursive: true, force: true })
    await mkdir(workFolder, { recursive: true, mode: 0o700 })
    try {
      const importer = await definition.open(app.imports.openSettings(payload), {
        signal, log: app.log, workFolder, skip: report.skipUnlisted, warn: report.warn
      })
      report.report.source = importer.title
      try {
        await (await import('./run-import.ts')).runImport({
          importer, report, signal, app, config, userId, isDryRun, taskId, onProgress
        })
      } finally {
        await importer.close()
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async function perform (given: TaskRun): Promise<void> {
    const run = given as TaskRun<ImportPayload>
    const { importer, dry_run: isDry } = run.payload
    const report = createReport({ importer, source: findImporter(importer).title, dry_run: isDry })
    const progress = createProgress(app, run, report)
    await progress.store(null)
    try {
      await work(run, report, progress.storeSometimes)
      report.report.status = 'finished'
    } catch (err) {
      const isStopped = run.signal.aborted
      report.report.status = isStopped ? 'stopped' : 'failed'
      if (!isStopped) report.report.error = mask(err instanceof Error ? err.message : String(err)).slice(0, 1_000)
      throw err
    } finally {
      await progress.store(null)
    }
  }

  return defineTask({
    name: TASK_NAME,
    title: 'Import a library',
    description: 'Imports accounts, marks, saves and collections from another program. Started by svc import or POST /api/imports.',
    type: 'generic',
    // Only the ways above seal the settings and check the person.
    manual_run: false,
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: ImportPayloadSchema,
    run: perform
  })
}
