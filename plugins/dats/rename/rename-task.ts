import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { ApiError } from '../../../core/errors.ts'
import { countEdit } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { recoverRenames, renameRom } from '../../renames/rename-rom.ts'
import { defineTask } from '../../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../../tasks/definitions.ts'
import { compareRoms } from '../match/match-rows.ts'
import { type DatRenameView, type RenameArguments, RenameArgumentsSchema } from '../schemas.ts'
import { toDatRenameView } from '../views.ts'
import { listSteps, planRename } from './plan-rename.ts'
import { type MisnamedRom, type RenameChain, countMisnamed, selectChains, selectMisnamed } from './rename-rows.ts'

const PAGE = 500
/** The most ROMs of each kind in the report. */
const NAMED_MAX = 500
/** Enough time for a large library on a slow disk. ROMs that are not renamed by then are renamed by the next run. */
const TIMEOUT_SECONDS = 86_400

interface RenameMeta {
  dry_run: boolean
  total: number
  renamed_count: number
  renamed: DatRenameView[]
  refused_count: number
  refused: DatRenameView[]
}

/** @throws ApiError NOT_FOUND */
type RequireDat = (context: Context<AnyCaller>, id: number) => Promise<unknown>

/** Renames one ROM on disk and in the database, by the same rules as an edit. @throws ApiError */
async function renameOne (app: FastifyInstance, rom: MisnamedRom): Promise<void> {
  const { rom_id: id, fs_name: oldName } = rom
  await renameRom({ db: app.db, library: app.library, workers: app.workers }, { ...rom, old_name: oldName })
  await compareRoms(app.db, [id])
  await countEdit(app.db)
  await app.editing.announce(id).catch((err: unknown) => {
    app.log.warn({ err, rom: id }, 'clients could not be notified of a renamed ROM')
  })
}

/**
 * Renames the ROMs of a chain.
 *
 * @returns the renamed ROMs, and the first one with the reason if it could not be renamed
 */
async function renameChain (app: FastifyInstance, chain: RenameChain): Promise<DatRenameView[]> {
  const [first] = chain.roms
  const done: DatRenameView[] = []
  let name = first.fs_name
  try {
    for (const step of listSteps(chain)) {
      await renameOne(app, step)
      if (step.is_temporary) name = step.new_name
      else done.push(toDatRenameView(step.rom_id === first.rom_id ? first : step, null))
    }
    return done
  } catch (err) {
    if (!(err instanceof ApiError)) throw err
    return [...done, toDatRenameView(first, `${err.message}${await undoTemporary(app, first, name)}`)]
  }
}

/**
 * Gives a ROM its name back after the rest of its cycle failed.
 *
 * @returns an addition to the reason if that fails too
 */
async function undoTemporary (app: FastifyInstance, rom: MisnamedRom, name: string): Promise<string> {
  if (name === rom.fs_name) return ''
  try {
    await renameOne(app, { ...rom, fs_name: name, new_name: rom.fs_name })
    return ''
  } catch (err) {
    if (!(err instanceof ApiError)) throw err
    return `. It is called '${name}' now; the next run renames it`
  }
}

/** Defines the task that gives ROMs the names of their games in a DAT. It sees what the person sees who started it. */
export function defineRename (app: FastifyInstance, requireDat: RequireDat): TaskDefinition {
  async function attempt (chain: RenameChain, isDry: boolean): Promise<DatRenameView[]> {
    const plan = planRename(chain, app.library.rules)
    return plan.refusal !== null || isDry ? [plan] : await renameChain(app, chain)
  }

  async function run ({ payload, user_id: userId, report, signal }: TaskRun): Promise<void> {
    const { dat_id: datId, rom_ids: romIds = null, dry_run: isDry = false } = payload as RenameArguments
    const context = await app.permissions.contextOf(userId)
    await requireDat(context, datId)
    await recoverRenames(app)
    const selection = { datId, romIds }
    const meta: RenameMeta = {
      dry_run: isDry,
      total: await countMisnamed(context, selection),
      renamed_count: 0,
      renamed: [],
      refused_count: 0,
      refused: []
    }
    const addToReport = (done: DatRenameView) => {
      if (done.refusal === null) meta.renamed_count++
      else meta.refused_count++
      const list = done.refusal === null ? meta.renamed : meta.refused
      if (list.length < NAMED_MAX) list.push(done)
    }
    for (let after = 0; ;) {
      const ids = await selectMisnamed(context, selection, { after, limit: PAGE })
      for (const id of ids) {
        signal.throwIfAborted()
        // Loads each chain when its turn comes, because the renames before it change it.
        const [chain] = await selectChains(context, selection, [id])
        if (chain !== undefined) (await attempt(chain, isDry)).forEach(addToReport)
      }
      await report({ ...meta })
      const last = ids.at(-1)
      if (last === undefined) return
      after = last
    }
  }

  return defineTask({
    name: 'rename_by_dat',
    title: 'Rename by DAT',
    description: 'Gives ROMs the names of their games in a DAT file. Saves, marks and metadata stay with the ROM.',
    type: 'generic',
    destructive: { scope: 'roms.write', grant: ['roms', 'write'] },
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: RenameArgumentsSchema,
    async check (args, caller) { await requireDat({ db: app.db, caller }, (args as RenameArguments).dat_id) },
    run
  })
}
