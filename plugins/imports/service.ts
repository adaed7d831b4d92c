import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Db } from '../../core/database/db.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import type { Task } from '../tasks/entities.ts'
import { TASK_QUEUE } from '../tasks/definitions.ts'
import type { ImporterDefinition, ImporterSettings } from './contract.ts'
import { ImportRun } from './entities.ts'
import { IMPORTERS } from './importers.ts'
import { selectRuns } from './rows.ts'
import {
  type ImportPayload, ImportReportSchema, type ImportRunView, ImportSummarySchema, type ListedImportView
} from './schemas.ts'

export const TASK_NAME = 'import_library'
/** The purpose of the seal of an import's settings, which may hold a password. */
const SETTINGS_SEAL = 'import-settings'
/** The most imports in a list. */
const LISTED_MAX = 100

/** The import that a person wants. */
export interface ImportWish {
  importer: string
  settings: ImporterSettings
  dry_run: boolean
  /** The user of records without one. */
  user_id: number | null
}

function toView (run: ImportRun): ImportRunView {
  return {
    id: run.id,
    importer: run.importer,
    dry_run: run.dry_run,
    created_at: formatDate(run.created_at),
    report: Value.Parse(ImportReportSchema, run.report)
  }
}

/** @throws ApiError BAD_REQUEST */
export function findImporter (key: string): ImporterDefinition {
  const importer = IMPORTERS.find((one) => one.key === key)
  if (importer !== undefined) return importer
  throw badRequest(`There is no importer '${key}'. The importers are: ${IMPORTERS.map((one) => one.key).join(', ')}`)
}

export function createImports (app: FastifyInstance) {
  return {
    /**
     * Queues an import.
     *
     * @throws ApiError BAD_REQUEST for an unknown importer, NOT_FOUND for an unknown user, CONFLICT while another
     * import waits or runs, UNAVAILABLE without a scan worker
     */
    async request (wish: ImportWish, userId: number | null): Promise<Task> {
      const { title, options } = findImporter(wish.importer)
      const unknown = Object.keys(wish.settings).find((name) => options[name] === undefined)
      if (unknown !== undefined) throw badRequest(`'${unknown}' is not a setting of the importer '${wish.importer}'`)
      if (wish.user_id !== null) await app.users.get(app.db, wish.user_id)
      await app.workers.requireScanWorker()
      const payload: ImportPayload = {
        importer: wish.importer,
        settings: app.secrets.seal(SETTINGS_SEAL, JSON.stringify(wish.settings)),
        dry_run: wish.dry_run,
        user_id: wish.user_id
      }
      return await app.tasks.start({
        queue: TASK_QUEUE,
        title: wish.dry_run ? `Plan an import from ${title}` : `Import from ${title}`,
        type: 'generic',
        task_key: TASK_NAME,
        payload,
        lock: `task:${TASK_NAME}`,
        lockedMessage: 'An import is already queued or running',
        user_id: userId
      })
    },

    /** Returns the settings of a queued import. @throws ApiError CONFLICT if the server's key has changed since */
    openSettings ({ settings }: ImportPayload): ImporterSettings {
      const text = app.secrets.open(SETTINGS_SEAL, settings)
      if (text === null) throw conflict('The settings of the import cannot be opened, because the key of the server has changed; start the import again')
      return JSON.parse(text) as ImporterSettings
    },

    /** Lists imports, newest first. */
    list: async (db: Db): Promise<ListedImportView[]> => (await selectRuns(db, LISTED_MAX)).map((run) => ({
      ...run, created_at: formatDate(run.created_at), report: Value.Parse(ImportSummarySchema, run.report)
    })),

    /** @throws ApiError NOT_FOUND */
    async get (db: Db, id: string): Promise<ImportRunView> {
      const run = await db.em.findOne(ImportRun, { id }, { refresh: true })
      if (run === null) throw notFound(`Import with ID '${id}' not found`)
      return toView(run)
    }
  }
}
export type Imports = ReturnType<typeof createImports>
