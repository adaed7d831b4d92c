import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import PQueue from 'p-queue'
import type { Task } from '../../tasks/entities.ts'
import type { TaskDefinition, TaskRun } from '../../tasks/definitions.ts'
import { countEdit } from '../../library-versions/version-rows.ts'
import { compareLibrary } from '../match/compare-library.ts'
import { readDatFolder } from './dat-folder.ts'
import { loadFile } from './load-file.ts'
import { type LoadReport, createLoadReport } from './report.ts'
import { type StagedDat, deleteOldUploads, discardStaged } from './staged-uploads.ts'

const QUEUE = 'dats'
const TIMEOUT_SECONDS = 86_400
export const FOLDER_TASK = 'update_dats'

/** The input of a task that loads uploads. */
export interface UploadPayload { staged: StagedDat[], platform_slugs: string[] | null }

interface DatFolders { dir: string, uploads: string }

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
    inOrder(() => readDatFolder({ db: app.db, pool: app.pg, dir }, report, signal))

  async function runFolder ({ signal, report: write }: TaskRun): Promise<void> {
    const report = createLoadReport(write)
    await deleteOldUploads(uploads)
    await readFolder(report, signal)
    await compare(report, signal)
    await report.flush()
  }

  async function runUpload ({ payload, signal, report: write }: TaskRun): Promise<void> {
    const { staged, platform_slugs: platformSlugs } = payload as unknown as UploadPayload
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
    const { staged } = task.payload as Partial<UploadPayload>
    if (task.title === UPLOAD_TITLE && staged !== undefined) await discardStaged(uploads, staged)
  })

  const folderTask: TaskDefinition = {
    name: FOLDER_TASK,
    title: 'Update DAT files',
    description: 'Loads new and changed DAT files of the folder of DATs, and compares the library with them',
    type: 'generic',
    group: 'manual',
    enabled: true,
    manual_run: true,
    cron_string: '',
    destructive: false,
    isSingle: true,
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: Type.Object({}, { additionalProperties: false }),
    run: runFolder
  }
  app.tasks.define(folderTask)

  return {
    /** Reads the folder of DATs, if it changed, without a comparison. */
    readFolder: (signal: AbortSignal) => readFolder(createLoadReport(), signal),

    /** Queues a task that loads staged files. @throws ApiError UNAVAILABLE without a scan worker */
    async start (payload: UploadPayload, userId: number | null): Promise<Task> {
      await app.workers.requireScanWorker()
      return await app.tasks.start({
        queue: QUEUE, title: UPLOAD_TITLE, type: 'generic', payload: { ...payload }, lockedMessage: '', user_id: userId
      })
    }
  }
}

const UPLOAD_TITLE = 'Load DAT files'
