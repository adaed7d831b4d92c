import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { selectExplanations } from '../matching/explanation-rows.ts'
import { toLookupView } from '../matching/views.ts'
import { readPriorities } from '../matching/merge-matches.ts'
import type { EditResult, EditCall, UnmatchCall } from './edit-call.ts'
import { type AfterEdit, createEditor } from './edit-rom.ts'
import { announceRoms } from './events.ts'
import { listFieldSources } from './field-sources.ts'
import { readForm } from './read-form.ts'
import { selectSourced } from './rows.ts'
import type { EditForm, RomSources } from './schemas.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

const QUEUE = 'edit'
const CONCURRENCY = 2
/** Enough time for several providers and pictures, each with its own limit. */
const TIMEOUT_MS = 90_000

/** Options of an edit besides the form. */
export interface EditOptions {
  unmatches: boolean
  removesCover: boolean
  /** The path of an uploaded picture. */
  artwork: string | null
  unlock: readonly string[]
}

const isEmpty = ({ ids, texts, records, fs_name: name, unlock, ...rest }: EditCall) => name === '' && unlock.length === 0 &&
  [ids, texts, records].every((part) => Object.keys(part).length === 0) && !('cover' in rest) && !('manual_metadata' in rest)

const toError = ({ violations, ...kind }: NonNullable<EditResult['refusal']>): ApiError =>
  new ApiError(kind, undefined, violations === null ? {} : { violations })

export function createEditing (app: FastifyInstance, config: Config) {
  const after: AfterEdit[] = []
  app.jobs.define<EditCall | UnmatchCall>(QUEUE, {
    concurrency: CONCURRENCY, timeoutSeconds: TIMEOUT_MS / 1_000, run: createEditor(app, config, after)
  })

  /** Runs a job of a ROM after all earlier ones of it, because each reads what the former wrote. */
  async function request (call: EditCall | UnmatchCall): Promise<void> {
    const answer = await app.jobs.request(QUEUE, call, TIMEOUT_MS, { group: `rom:${call.rom_id}` }) as EditResult
    if (answer.refusal !== null) throw toError(answer.refusal)
  }

  function toCall (id: number, form: EditForm, { unlock, removesCover, artwork }: EditOptions): EditCall {
    const cover = removesCover ? null : artwork
    return {
      kind: 'edit', rom_id: id, unlock, ...readForm(form, app.roms.providers),
      ...(cover === null && !removesCover ? {} : { cover })
    }
  }

  return {
    /** Adds a step that runs after each edit, in the scan worker. */
    addAfterEdit (step: AfterEdit): void { after.push(step) },

    /** Publishes the current data of ROMs to the users who may see them. */
    announce: (...ids: number[]): Promise<void> => announceRoms(app, config, ids),

    /** @throws ApiError BAD_REQUEST if the manual cannot be downloaded */
    refetchManual: (id: number, url: string): Promise<void> =>
      request({
        kind: 'edit', rom_id: id, ids: {}, texts: { url_manual: url }, records: {}, fs_name: '', unlock: [], refetches_manual: true
      }),

    /** @throws ApiError NOT_FOUND, also for a hidden ROM */
    async getSources (context: Context<AnyCaller>, id: number): Promise<RomSources> {
      const sourced = await selectSourced(context, id)
      if (sourced === null) throw romNotFound(id)
      const locked = [...sourced.rom.own_fields, ...sourced.rom.manual_metadata == null ? [] : ['manual_metadata']]
      const priorities = readPriorities(config, app.registry.providers)
      const lookups = (await selectExplanations(app.db, id)).map(toLookupView)
      return { ...listFieldSources(sourced.rom, sourced.matches, priorities), locked, lookups }
    },

    /**
     * Edits a ROM, or removes all its matches.
     *
     * @throws ApiError NOT_FOUND, also for a hidden ROM · BAD_REQUEST for media that cannot be downloaded or used ·
     * INVALID for a wrong record · CONFLICT for a name that is taken · UNAVAILABLE without a scan worker
     */
    async change (context: Context, id: number, form: EditForm, options: EditOptions) {
      const { caller } = context
      await app.roms.checkVisible(context, id)
      const call = toCall(id, form, options)
      if (options.unmatches) await request({ kind: 'unmatch', rom_id: id })
      else if (!isEmpty(call)) await request(call)
      return await app.roms.getDetailed({ db: app.db, caller }, id)
    }
  }
}
