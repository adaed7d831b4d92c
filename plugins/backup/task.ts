import { basename } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { StartError, badRequest } from '../../core/errors.ts'
import { backupConfig } from './config.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { backupFolder, deleteOld, nextPath, readPassphrase } from './backup-folder.ts'
import type { Progress } from './progress.ts'

const TIMEOUT_SECONDS = 24 * 60 * 60
const REPORT_MS = 1_000

/** Defines the task that makes backups, by hand and on a schedule. */
export function defineBackup (config: Config, databaseUrl: string): TaskDefinition {
  async function run ({ signal, report }: TaskRun): Promise<void> {
    const { createBackup } = await import('./write-backup.ts')
    const folder = backupFolder(config)
    let reportedAt = 0
    let reporting = Promise.resolve()
    const reportProgress = (progress: Progress) => {
      if (performance.now() - reportedAt < REPORT_MS) return
      reportedAt = performance.now()
      // A lost progress report is harmless. The final result is reported below.
      reporting = report({ backup: { ...progress } }).catch(() => undefined)
    }
    const { rows, path, ...result } = await createBackup({
      config,
      databaseUrl,
      path: nextPath(folder),
      namesIncomplete: true,
      isIncremental: backupConfig.of(config).incremental,
      holds: 'everything',
      passphrase: readPassphrase(config),
      signal,
      report: reportProgress
    })
    const deleted = await deleteOld(path, backupConfig.of(config).keep)
    const unreadable = backupConfig.of(config).incremental
      ? await import('./prune-parts.ts').then(({ dropUnusedParts }) => dropUnusedParts(folder))
      : null
    await reporting
    const rowCount = Object.values(rows).reduce((sum, count) => sum + count, 0)
    await report({ backup: { ...result, file: basename(path), rows: rowCount, deleted, unreadable } })
  }

  return defineTask({
    name: 'backup',
    title: 'Backup',
    description:
      'Writes the database, saves, states, uploads and settings into one file, verifies it, and keeps the ' +
      'newest few',
    type: 'generic',
    enabled: backupConfig.of(config).scheduled,
    cron_string: backupConfig.of(config).scheduled_cron,
    timeoutSeconds: TIMEOUT_SECONDS,
    async check () {
      try {
        readPassphrase(config)
      } catch (err) {
        throw err instanceof StartError ? badRequest(err.message) : err
      }
    },
    run
  })
}
