import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import PQueue from 'p-queue'
import { Nullable } from '../../../core/typebox.ts'
import type { Task } from '../../tasks/entities.ts'
import { defineTask } from '../../tasks/define-task.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import { countEdit } from '../../library-versions/version-rows.ts'
import { compareLibrary } from '../match/compare-library.ts'
import type * as FileLoading from './load-file.ts'
import { type LoadReport, createLoadReport } from './report.ts'
import { StagedDatSchema, deleteOldUploads, discardStaged } from './staged-uploads.ts'

const QUEUE = 'dats'
const TIMEOUT_SECONDS = 86_400
export const FOLDER_TASK = 'update_dats'
const UPLOAD_TITLE = 'Load DAT files'

/** The input of a task that loads uploads. */
const UploadPayloadSchema = Type.Object({
  staged: Type.Array(StagedDatSchema), platform_slugs: Nullable(Type.Array(Type.String()))
})
export type UploadPayload = Static<typeof UploadPayloadSchema>

interface DatFolders { dir: string, uploads: string }

/** Loads its code with the first file, because only the scan worker loads DATs. */
const loadFile: typeof FileLoading.loadFile = async (...file) => (await import('./load-file.ts')).loadFile(...file)

/** Creates the tasks that load DATs, and defines them. They run in the scan worker, one at a time. */
export function createLoadTasks (app: FastifyInstance, { dir, uploads }: DatFolders) {
  const queue = new PQueue({ concurrency: 1 })
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => queue.add(work)

  async function compare (report: LoadReport, signal: AbortSignal): Promise<void> {
    await compareLibrary(app.db, signal, async (compared) => {
      report.meta.compared = compared
      await report.flush()
    })
    await countEdit(app.db)
  }

  const readFolder = (report: LoadReport, signal: AbortSignal): Promise<void> =>
    inOrder(async () => (await import('./dat-folder.ts')).readDatFolder({ db: app.db, pool: app.pg, dir }, report, signal))

  async function runFolder ({ signal, report: write }: TaskRun): Promise<void> {
    const report = createLoadReport(write)
    await deleteOldUploads(uploads)
    await readFolder(report, signal)
    await compare(report, signal)
    await report.flush()
  }

  async function runUpload ({ payload, signal, report: write }: TaskRun): Promise<void> {
    const { staged, platform_slugs: platformSlugs } = Value.Parse(UploadPayloadSchema, payload)
    const report = createLoadReport(write)
    await inOrder(async () => {
      for (const { file, name } of staged) {
        await loadFile(app.pg, { path: join(uploads, file), name, folderPath: null, platformSlugs }, report, signal)
      }
    })
    await compare(report, signal)
    await report.flush()
    const { problems: [problem], loaded_count: loaded } = report.meta
    if (loaded === 0 && problem !== undefined) throw new Error(`${problem.file}: ${problem.problem}`)
  }

  app.tasks.addRunner(QUEUE, {
    concurrency: 1, timeoutName: 'TASK_TIMEOUT', timeoutSeconds: TIMEOUT_SECONDS, run: runUpload
  })
  app.tasks.onEnd(async (task) => {
    const { title, payload } = task
    if (title !== UPLOAD_TITLE || !Value.Check(UploadPayloadSchema, payload)) return
    await discardStaged(uploads, payload.staged)
  })

  app.tasks.define(defineTask({
    name: FOLDER_TASK,
    title: 'Update DAT files',
    description: 'Loads new and changed DAT files of the folder of DATs, and compares the library with them',
    type: 'generic',
    timeoutSeconds: TIMEOUT_SECONDS,
    run: runFolder
  }))

  return {
    /** Reads the folder of DATs, if it changed, without a comparison. */
    readFolder: (signal: AbortSignal) => readFolder(createLoadReport(), signal),

    /** Queues a task that loads staged files. @throws ApiError UNAVAILABLE without a scan worker */
    async start (payload: UploadPayload, userId: number | null): Promise<Task> {
      await app.workers.requireScanWorker()
      return await app.tasks.start({
        queue: QUEUE, title: UPLOAD_TITLE, type: 'generic', payload, lockedMessage: '', user_id: userId
      })
    }
  }
}
