import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../../../core/config/config.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import type { LibraryRoot } from '../../library/roots.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import type { ScanPayload } from '../schemas.ts'
import { DatabaseUnableError, explainWriteError } from '../database-errors.ts'
import { createAnnouncer } from '../progress/announcer.ts'
import { createListeners } from '../progress/listeners.ts'
import { type ScanRole, createPartLeases } from '../parts/part-leases.ts'
import { createHelperProgress, createProgress } from '../progress/scan-progress.ts'
import { createLibraries } from './read-libraries.ts'

/** One run of a scan, with its role. */
export interface ScanRun extends TaskRun<ScanPayload> { role: ScanRole }

/**
 * Creates the objects that all parts of one scan share: settings, abort signal, progress, announcer and lookup scope.
 */
export function createScanContext (
  app: FastifyInstance, config: Config, run: ScanRun, roots: readonly LibraryRoot[]
) {
  const { payload, role } = run
  const { library_ids: libraryIds = [] } = payload
  /** Aborts the work that still runs when the scan is over, however the scan ended. */
  const ending = new AbortController()
  const signal = AbortSignal.any([run.signal, ending.signal])
  const log = app.log.child({ task: run.id }) as Logger
  const listeners = createListeners(app, log)
  const progress = role === 'helper' ? createHelperProgress(app, log) : createProgress(app, log, listeners, run.report)
  const parts = createPartLeases({
    app, log, task: run.id, role, progress, signal, abort: (reason) => { ending.abort(reason) }
  })
  const chosen = libraryIds.length === 0 ? roots : roots.filter(({ id }) => libraryIds.includes(id))
  return {
    app,
    config,
    payload,
    signal,
    log,
    task: run.id,
    role,
    parts,
    chosen,
    listeners,
    progress,
    libraries: createLibraries(app, roots, role === 'helper' ? [] : chosen, { progress, task: run.id, signal, parts }),
    announcer: createAnnouncer(app, config, listeners),
    scope: { signal, memo: createMemo(), preferences: readPreferences(config), options: payload },
    end (reason: Error): void { ending.abort(reason) },

    /**
     * Rethrows the error of a failed write, which costs one ROM. Aborts the scan if the database cannot write at all.
     */
    rethrowOrAbort (err: unknown): never {
      const reason = explainWriteError(err)
      if (reason instanceof DatabaseUnableError) ending.abort(reason)
      throw reason
    }
  }
}
export type ScanContext = ReturnType<typeof createScanContext>
