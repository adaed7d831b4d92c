import type { Context } from '../../../core/access/context.ts'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import { CompiledStatements } from '../../../core/database/compiled-statements.ts'
import { type Condition, allOf } from '../../../core/database/conditions.ts'
import type { Db } from '../../../core/database/db.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Addresses } from '../../resources/addresses.ts'
import { isOneOf } from '../filters/list-conditions.ts'
import { type CachedRom, createRomCache } from './rom-cache.ts'
import type { RomProviders } from '../providers.ts'
import {
  type CallerRomRow, type Game, type ProgressRow, type RomRow, type RomSelection, type RomStatements, selectFirstRom,
  selectProgress, selectRom, selectRoms
} from '../rows.ts'
import type { BuiltRom, BuiltSimpleRom, SimpleRomView } from '../schemas.ts'
import { stillOf, toCallerView, toSharedJson, toSharedView } from '../views.ts'
import { isRomVisible } from '../visibility.ts'
import { romNotFound } from '../rom-not-found.ts'

/** Each statement is a text of some 6 kB; a caller has up to four. */
const STATEMENTS_MAX = 200

/** Requested ROMs: their ids if known, and the statement that finds them. */
interface RomRequest extends Pick<RomSelection, 'files' | 'collections'> {
  ids: readonly number[]
  select (selection: RomSelection): Promise<CallerRomRow[]>
}

export interface LoadedRom { row: CallerRomRow, shared: CachedRom, rom: BuiltRom }

/** The addresses of pictures: plain ones grant no access, marked ones do. */
interface PictureAddresses { plain: Addresses, marked: Addresses }

/** Returns a ROM in the form of lists. */
export const toSimple = ({ shared, more }: BuiltRom): BuiltSimpleRom =>
  ({ shared, more: { ...more, screenshot_path: null } })

/** Builds ROMs as callers see them. The part of a ROM that is the same for every caller is cached. */
export class RomBuilder {
  readonly #cache = createRomCache()
  readonly #statements: RomStatements = new CompiledStatements(STATEMENTS_MAX)
  readonly #providers: RomProviders
  readonly #addresses: PictureAddresses

  constructor (providers: RomProviders, addresses: PictureAddresses) {
    this.#providers = providers
    this.#addresses = addresses
  }

  /**
   * Builds ROMs. ROMs with known ids come from the cache if unchanged. For one ROM, the part of the statement that
   * reads the complete ROM is a quarter of its cost, even if unused. One cached ROM is therefore checked without that
   * part first.
   */
  async #build (
    context: Context<AnyCaller>, { ids, files, collections = false, select }: RomRequest
  ): Promise<LoadedRom[]> {
    const { caller } = context
    // The server's own views are not cached, because they contain other addresses.
    const cached = caller === null ? new Map<number, CachedRom>() : this.#cache.find(ids, files)
    const stamps = Object.fromEntries([...cached].map(([id, { stamp }]) => [id, stamp]))
    const selection = { files, siblings_by: this.#providers.identifying, collections }
    const callerRows = ids.length === 1 && cached.size === 1 ? await select({ ...selection, knownStamps: null }) : null
    const isUnchanged = callerRows?.every(({ id, stamp }) => stamp === stamps[id]) ?? false
    const rows = callerRows !== null && isUnchanged ? callerRows : await select({ ...selection, knownStamps: stamps })
    const found = rows.flatMap((row) => {
      const shared = row.rom === null ? cached.get(row.id) : this.#createCacheEntry(row, row.rom, caller)
      if (shared === undefined) return []
      if (row.rom !== null && caller !== null) this.#cache.store(row.id, files, shared)
      return [{ row, shared }]
    })
    const progress = await this.#findProgress(context, found.flatMap(({ shared }) => shared.games))
    return found.map(({ row, shared }) =>
      ({ row, shared, rom: { shared: shared.json, more: toCallerView(row, shared.games, progress, this.#providers) } }))
  }

  /** Builds the ROMs of these ids that the caller sees, in the order of the ids. */
  async buildByIds (context: Context<AnyCaller>, ids: readonly number[], files: boolean): Promise<LoadedRom[]> {
    if (ids.length === 0) return []
    const condition = allOf([isOneOf(ids), isRomVisible(context.caller)])
    const found = await this.#build(context,
      { ids, files, select: (selection) => selectRoms(context, condition, selection) })
    const byId = new Map(found.map((one) => [one.row.id, one]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  /** Builds the first ROM that meets a condition, with its files and collections; returns null if there is none. */
  async buildFirst (context: Context<AnyCaller>, condition: Condition): Promise<LoadedRom | null> {
    const visible = allOf([isRomVisible(context.caller), condition])
    const [found] = await this.#build(context, {
      ids: [], files: true, collections: true, select: (selection) => selectFirstRom(context, visible, selection)
    })
    return found ?? null
  }

  /** Builds the ROM with an id, with its files; returns null unless the caller sees it. */
  async buildById (
    context: Context<AnyCaller>, id: number, { collections }: { collections: boolean }
  ): Promise<LoadedRom | null> {
    const [found] = await this.#build(context, {
      ids: [id], files: true, collections, select: (selection) => selectRom(context, id, selection, this.#statements)
    })
    return found ?? null
  }

  /** @throws ApiError NOT_FOUND unless the caller sees the ROM */
  async get (context: Context<AnyCaller>, id: number): Promise<BuiltRom> {
    const found = await this.buildById(context, id, { collections: false })
    if (found === null) throw romNotFound(id)
    return found.rom
  }

  /**
   * Returns ROMs in the order of the ids, as in lists but without files and siblings. Skips ids without a row. For
   * the server's own events: the sender must check visibility.
   *
   * @param userId the user whose marks are shown; null for no marks
   */
  async buildForEvents (db: Db, ids: readonly number[], userId: number | null): Promise<SimpleRomView[]> {
    const caller: AnyCaller = userId === null ? null : { id: userId, access: ADMIN_ACCESS }
    const condition = allOf([isOneOf(ids), isRomVisible(caller)])
    const rows = await selectRoms({ db, caller }, condition, { files: false, siblings_by: null })
    const games = rows.flatMap(({ rom }) => rom === null ? [] : this.#gamesOf(rom))
    const progress = await this.#findProgress({ db, caller }, games)
    const views = new Map(rows.flatMap((row) =>
      row.rom === null ? [] : [[row.id, this.#toView(row, row.rom, progress, caller)] as const]))
    return ids.flatMap((id) => views.get(id) ?? [])
  }

  /** Returns the shared part and the caller's part as one view, without the cache. */
  #toView (row: CallerRomRow, rom: RomRow, progress: readonly ProgressRow[], caller: AnyCaller): SimpleRomView {
    return {
      ...toSharedView(rom, this.#providers, this.#addressesFor(caller)),
      ...toCallerView(row, this.#gamesOf(rom), progress, this.#providers),
      screenshot_path: null
    }
  }

  /** Creates the cache entry of a ROM that was just read. */
  #createCacheEntry ({ stamp }: CallerRomRow, rom: RomRow, caller: AnyCaller): CachedRom {
    const json = toSharedJson(toSharedView(rom, this.#providers, this.#addressesFor(caller)))
    return { stamp, json, games: this.#gamesOf(rom), stillPath: stillOf(rom) }
  }

  /** Returns plain addresses for views without a caller, because the server broadcasts these views. */
  #addressesFor (caller: AnyCaller): Addresses {
    return caller === null ? this.#addresses.plain : this.#addresses.marked
  }

  #gamesOf ({ matches }: RomRow): Game[] {
    return matches.flatMap(({ provider, provider_id: id }) =>
      this.#providers.progressKeys.includes(provider) ? [{ provider, provider_id: id }] : [])
  }

  async #findProgress ({ db, caller }: Context<AnyCaller>, games: readonly Game[]): Promise<ProgressRow[]> {
    return caller === null ? [] : await selectProgress(db, caller.id, this.#providers.progressKeys, games)
  }
}
