import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { ApiError } from '../../../core/errors.ts'
import { countEdit } from '../../library-versions/version-rows.ts'
import { renameRom } from '../../renames/rename-rom.ts'
import type { TaskDefinition, TaskRun } from '../../tasks/definitions.ts'
import { compareRoms } from '../match/match-rows.ts'
import { type DatRenameView, type RenameArguments, RenameArgumentsSchema } from '../schemas.ts'
import { planRename } from './plan-rename.ts'
import { type MisnamedRom, countMisnamed, selectMisnamed } from './rename-rows.ts'

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
type RequireDat = (context: Context<null>, id: number) => Promise<unknown>

/** Renames one ROM on disk and in the database, by the same rules as an edit. @throws ApiError */
async function renameOne (app: FastifyInstance, rom: MisnamedRom): Promise<void> {
  const { fs_name: oldName, is_taken: _checked, ...renaming } = rom
  await renameRom({ db: app.db, library: app.library, workers: app.workers }, { ...renaming, old_name: oldName })
  await compareRoms(app.db, [rom.rom_id])
  await countEdit(app.db)
  await app.editing.announce(rom.rom_id).catch((err: unknown) => {
    app.log.warn({ err, rom: rom.rom_id }, 'clients could not be notified of a renamed ROM')
  })
}

/** Defines the task that gives ROMs the names of their games in a DAT. */
export function defineRename (app: FastifyInstance, requireDat: RequireDat): TaskDefinition {
  const server = () => ({ db: app.db, caller: null })

  async function attempt (rom: MisnamedRom, isDry: boolean): Promise<DatRenameView> {
    const plan = planRename(rom, app.library.rules)
    if (plan.refusal !== null || isDry) return plan
    try {
      await renameOne(app, rom)
      return plan
    } catch (err) {
      if (!(err instanceof ApiError)) throw err
      return { ...plan, refusal: err.message }
    }
  }

  async function run ({ payload, report, signal }: TaskRun): Promise<void> {
    const { dat_id: datId, rom_ids: romIds = null, dry_run: isDry = false } = payload as RenameArguments
    await requireDat(server(), datId)
    const selection = { datId, romIds }
    const meta: RenameMeta = {
      dry_run: isDry,
      total: await countMisnamed(server(), selection),
      renamed_count: 0,
      renamed: [],
      refused_count: 0,
      refused: []
    }
    for (let after = 0; ;) {
      const roms = await selectMisnamed(server(), selection, { after, limit: PAGE })
      for (const rom of roms) {
        signal.throwIfAborted()
        const done = await attempt(rom, isDry)
        if (done.refusal === null) meta.renamed_count++
        else meta.refused_count++
        const list = done.refusal === null ? meta.renamed : meta.refused
        if (list.length < NAMED_MAX) list.push(done)
      }
      await report({ ...meta })
      const last = roms.at(-1)
      if (last === undefined) return
      after = last.rom_id
    }
  }

  return {
    name: 'rename_by_dat',
    title: 'Rename by DAT',
    description: 'Gives ROMs the names of their games in a DAT file. Saves, marks and metadata stay with the ROM.',
    type: 'generic',
    group: 'manual',
    enabled: true,
    manual_run: true,
    cron_string: '',
    destructive: { scope: 'roms.write', grant: ['roms', 'write'] },
    isSingle: true,
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: RenameArgumentsSchema,
    async check (args) { await requireDat(server(), (args as RenameArguments).dat_id) },
    run
  }
}
