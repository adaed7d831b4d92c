import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../../../core/config/config.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import type { LibraryRoot } from '../../library/roots.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import type { ScanPayload } from '../schemas.ts'
import { DatabaseUnableError, explainDatabaseError } from '../database-errors.ts'
import { createAnnouncer } from '../progress/announcer.ts'
import { createListeners } from '../progress/listeners.ts'
import { createProgress } from '../progress/scan-progress.ts'
import { createLibraries } from './read-libraries.ts'

/**
 * Creates the objects that all parts of one scan share: settings, abort signal, progress, announcer and lookup scope.
 */
export function createScanContext (
  app: FastifyInstance, config: Config, run: TaskRun<ScanPayload>, roots: readonly LibraryRoot[]
) {
  const { payload } = run
  /** Aborts the work that still runs when the scan is over, however the scan ended. */
  const ending = new AbortController()
  const signal = AbortSignal.any([run.signal, ending.signal])
  const log = app.log.child({ task: run.id }) as Logger
  const listeners = createListeners(app, log)
  const progress = createProgress(app, log, listeners, run.report)
  return {
    app,
    config,
    payload,
    signal,
    log,
    task: run.id,
    listeners,
    progress,
    libraries: createLibraries(app, roots, payload.library_ids ?? [], { progress, task: run.id, signal }),
    announcer: createAnnouncer(app, config, listeners),
    scope: { signal, memo: createMemo(), preferences: readPreferences(config), options: payload },
    end (reason: Error): void { ending.abort(reason) },

    /**
     * Rethrows the error of a failed write, which costs one ROM. Aborts the scan if the database cannot write at all.
     */
    rethrowOrAbort (err: unknown): never {
      const reason = explainDatabaseError(err)
      if (reason instanceof DatabaseUnableError) ending.abort(reason)
      throw reason
    }
  }
}
export type ScanContext = ReturnType<typeof createScanContext>
