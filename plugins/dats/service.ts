import { join, resolve } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Context, contextOf } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { alreadyDeleted } from '../../core/database/delete-row.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { countEdit } from '../library-versions/version-rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { Task } from '../tasks/entities.ts'
import { checkPlatforms } from './check-platforms.ts'
import { datsConfig } from './config.ts'
import { type DatRow, deleteDat, selectDats, updatePlatforms } from './dat-rows.ts'
import { writeFixdat } from './lists/fixdat.ts'
import { selectCounts, selectExtras, selectGames } from './lists/list-rows.ts'
import { createLoadTasks, FOLDER_TASK } from './load/load-tasks.ts'
import { type StagedDat, discardStaged, readUploadForm, stageDat, uploadFolder } from './load/staged-uploads.ts'
import { compareLibrary } from './match/compare-library.ts'
import { hasDats } from './match/match-rows.ts'
import { findPlatformSlugs } from './platform-names.ts'
import { previewRenames } from './rename/plan-rename.ts'
import { countMisnamed } from './rename/rename-rows.ts'
import { defineRename } from './rename/rename-task.ts'
import type { DatView, ListGamesQuery, PageQuery } from './schemas.ts'
import { toDatView } from './views.ts'

const COMPARE_QUEUE = 'dats-compare'
/** ROMs that a scan or an edit compares before it ends. */
const COMPARED_AT_ONCE = 2_000
/** Enough time for a million ROMs on a busy machine. */
const COMPARE_SECONDS = 3_600

/** The most characters of a DAT's name in the name of its fixdat, because many proxies refuse a header of 4 KiB. */
const FILE_NAME_MAX = 100

/** The folder of DATs that the operator fills. */
export const datFolder = (config: Config): string => resolve(datsConfig.of(config).dir ?? join(config.data_dir, 'dats'))

interface Fixdat { name: string, text: AsyncIterable<string> }

/** @throws ApiError NOT_FOUND, also for a DAT whose platforms are hidden from the caller */
async function requireDat (context: Context<AnyCaller>, id: number): Promise<DatRow> {
  const [dat] = await selectDats(context, { id })
  if (dat === undefined) throw notFound(`DAT with ID ${id} not found; GET /api/dats lists all`)
  return dat
}

/** Creates the part of the service that reads DATs. */
function createReads (app: FastifyInstance) {
  async function get (context: Context<AnyCaller>, id: number): Promise<DatView> {
    const dat = await requireDat(context, id)
    return toDatView(dat, (await selectCounts(app.longReads, context.caller, [id])).get(id))
  }

  return {
    get,

    async list (context: Context<AnyCaller>, platformId?: number): Promise<DatView[]> {
      const rows = await selectDats(context, platformId === undefined ? {} : { platformId })
      const counts = await selectCounts(app.longReads, context.caller, rows.map(({ id }) => id))
      return rows.map((row) => toDatView(row, counts.get(row.id)))
    },

    async listGames (context: Context<AnyCaller>, id: number, query: ListGamesQuery) {
      const { game_count: all, have_count: have, miss_count: missing } = await get(context, id)
      const { is_present: isPresent, limit, offset } = query
      const total = isPresent === undefined ? all : isPresent ? have : missing
      return { items: await selectGames(context, id, query), total, limit, offset }
    },

    async listExtras (context: Context<AnyCaller>, id: number, query: PageQuery) {
      await requireDat(context, id)
      return { ...await selectExtras(context, id, query), ...query }
    },

    /** Returns a name for a fixdat and its text, which is read from the database while it is sent. */
    async createFixdat (context: Context<AnyCaller>, id: number): Promise<Fixdat> {
      const dat = await requireDat(context, id)
      return { name: `fix_${dat.name.slice(0, FILE_NAME_MAX)}.dat`, text: writeFixdat(context, dat) }
    },

    async previewRenames (context: Context<AnyCaller>, id: number, { limit, offset }: PageQuery) {
      await requireDat(context, id)
      const selection = { datId: id, romIds: null }
      const items = await previewRenames(context, selection, { limit, offset }, app.library.rules)
      return { items, total: await countMisnamed(context, selection), limit, offset }
    }
  }
}

/** Defines the job that compares the library after a change of DATs. @returns a function that queues the job */
function defineComparison (app: FastifyInstance): () => Promise<unknown> {
  app.jobs.define(COMPARE_QUEUE, {
    concurrency: 1,
    timeoutSeconds: COMPARE_SECONDS,
    run: async (_input, signal) => {
      await compareLibrary(app.db, signal, async () => {})
      await countEdit(app.db)
      return null
    }
  })
  return () => app.jobs.send(COMPARE_QUEUE, {})
}

/** Creates the service of DAT files. */
export function createDats (app: FastifyInstance, config: Config) {
  const uploads = uploadFolder(config.data_dir)
  const tasks = createLoadTasks(app, { dir: datFolder(config), uploads })
  const compareLater = defineComparison(app)
  const reads = createReads(app)
  app.tasks.define(defineRename(app, requireDat))

  async function start (
    staged: readonly StagedDat[], slugs: readonly string[] | null, userId: number | null
  ): Promise<Task> {
    try {
      return await tasks.start({ staged: [...staged], platform_slugs: slugs === null ? null : [...slugs] }, userId)
    } catch (err) {
      await discardStaged(uploads, staged)
      throw err
    }
  }

  return {
    ...reads,
    readFolder: tasks.readFolder,

    /** Stages the files of a form, and starts the task that loads them. @throws ApiError */
    async upload (request: FastifyRequest, slugs: readonly string[] | null): Promise<Task> {
      await checkPlatforms(request.db, slugs ?? [])
      await app.workers.requireScanWorker()
      const staged = await readUploadForm(request, uploads, datsConfig.of(config).max_upload_bytes)
      return await start(staged, slugs, contextOf(request).caller.id)
    },

    /** Stages a file of the command line, and starts the task that loads it. @throws ApiError */
    async add (name: string, content: AsyncIterable<Buffer>, slugs: readonly string[] | null): Promise<Task> {
      await checkPlatforms(app.db, slugs ?? [])
      const staged = await stageDat(uploads, name, content, datsConfig.of(config).max_upload_bytes)
      return await start([staged], slugs, null)
    },

    /** @param slugs the platforms; null for those that the name of the DAT names */
    async choosePlatforms (context: Context<AnyCaller>, id: number, slugs: readonly string[] | null): Promise<DatView> {
      const { name } = await requireDat(context, id)
      await checkPlatforms(context.db, slugs ?? [])
      await updatePlatforms(context.db, id, slugs ?? findPlatformSlugs(name), slugs !== null)
      await compareLater()
      return await reads.get(context, id)
    },

    /** @throws ApiError CONFLICT for a DAT of the folder, which the next scan would load again */
    async remove (context: Context<AnyCaller>, id: number): Promise<void> {
      const { folder_path: path } = await requireDat(context, id)
      if (path !== null && await isPresent(join(datFolder(config), path))) {
        throw conflict(`The DAT comes from '${path}' in the folder of DATs; delete that file, then run the task ${FOLDER_TASK}`)
      }
      if (!await deleteDat(context.db, id)) throw alreadyDeleted(`DAT ${id}`)
      await compareLater()
    },

    /**
     * Compares ROMs that changed with the DATs of their platforms. A job compares the rest of many, so that a scan of a
     * new library does not wait.
     */
    async compare (signal: AbortSignal): Promise<void> {
      if (!await hasDats(app.db)) return
      const compared = await compareLibrary(app.db, signal, async () => {}, COMPARED_AT_ONCE)
      if (compared >= COMPARED_AT_ONCE) await compareLater()
    }
  }
}
