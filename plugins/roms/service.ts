import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { ADMIN_ACCESS } from '../../core/access/grants.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { type VersionSnapshot, selectVersions } from '../library/version-rows.ts'
import { selectNotes } from '../notes/rows.ts'
import { toNoteView } from '../notes/views.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import {
  type Condition, type HashQuery, NOTHING, allOf, filterConditions, hasHash, hasId, hasProviderId, isMarked,
  isNotHidden, isOneOf, scopeConditions
} from './list-conditions.ts'
import { noFilterValues } from './filters/filter-value-rows.ts'
import { isRepresentative } from './lists/grouping.ts'
import { selectCriteria, selectMemberships } from './filters/collection-rows.ts'
import { type Criteria, readCriteria } from './filters/criteria.ts'
import type { UserFiles } from './user-files.ts'
import { type CachedList, createListCache, needsIndex } from './lists/list-cache.ts'
import { type CachedRom, createRomCache } from './lists/rom-cache.ts'
import { CachedText } from './cached-text.ts'
import { type ListRomsQuery, type ScopeQuery, pickScope, withOldNames } from './filters/list-query.ts'
import { type MarksChange, writeMarks } from './marks/mark-rows.ts'
import { NO_JOINS, type Order, readOrder } from './lists/list-order.ts'
import type { PageIndex } from './lists/page-index-rows.ts'
import { storeLastPlayed, storePlays } from './played-rows.ts'
import {
  type Game, type ProgressRow, type RomRow, type CallerRomRow, type RomSelection, hasVisible, markedRoms, selectFile,
  selectFirstRom, selectIds, selectProgress, selectRoms
} from './rows.ts'
import {
  type BuiltDetailedRom, type BuiltRom, type BuiltSimpleRom, type RomFileView, type RomFilters, type RomPage,
  type RomUserView, type SimpleRomView, type UserCollectionView, createRomSchemas
} from './schemas.ts'
import type { Addresses } from '../resources/addresses.ts'
import { type RomProviders, createRomProviders } from './providers.ts'
import { stillOf, toFileView, toSharedView, toCallerView } from './views.ts'
import { isRomVisible } from './visibility.ts'

const toSimple = ({ shared, more }: BuiltRom): BuiltSimpleRom => ({ shared, more: { ...more, screenshot_path: null } })

const romNotFound = (id: number) => notFound(`ROM with ID '${id}' not found`)

const NO_SCOPE: ScopeQuery = { platform_ids: [], library_ids: [] }
const NO_INDEX: PageIndex = { ids: new Int32Array(), text: new CachedText('[]'), characters: {} }

interface ConditionOptions {
  order: Order
  /** Decides which ROM of a group is shown. */
  regionPriority?: readonly string[]
  /** The condition of the smart collection that filters the list. */
  smart?: Condition | null
  /** True if the condition applies to one ROM, not to all. */
  isSingleRom?: boolean
}

/** Requested ROMs: their ids if known, and the statement that finds them. */
interface RomRequest extends Pick<RomSelection, 'files' | 'collections'> {
  ids: readonly number[]
  select (selection: RomSelection): Promise<CallerRomRow[]>
}

interface LoadedRom { row: CallerRomRow, shared: CachedRom, rom: BuiltRom }

export function createRoms (app: FastifyInstance, config: Config, userFiles: UserFiles) {
  const providers: RomProviders = createRomProviders(app.registry)
  const userIdOf = (caller: AnyCaller) => caller?.id ?? null
  const lists = createListCache(app.longReads)
  const cache = createRomCache()

  // Addresses for everybody grant no access, because the server broadcasts them.
  const addressesFor = (caller: AnyCaller) => caller === null ? app.resources.plain : app.resources.marked

  const gamesOf = ({ matches }: RomRow): Game[] => matches.flatMap(({ provider, provider_id: id }) =>
    providers.progressKeys.includes(provider) ? [{ provider, provider_id: id }] : [])

  async function findProgress ({ db, caller }: Context<AnyCaller>, games: readonly Game[]): Promise<ProgressRow[]> {
    return caller === null ? [] : await selectProgress(db, caller.id, providers.progressKeys, games)
  }

  /** Creates the cache entry of a ROM that was just read. */
  function createCacheEntry ({ stamp }: CallerRomRow, rom: RomRow, addresses: Addresses): CachedRom {
    const json = JSON.stringify(toSharedView(rom, providers, addresses))
    return { stamp, json, games: gamesOf(rom), stillPath: stillOf(rom) }
  }

  /**
   * Builds ROMs. ROMs with known ids come from the cache if unchanged. For one ROM, the part of the statement that
   * reads the complete ROM is a quarter of its cost, even if unused. One cached ROM is therefore checked without that
   * part first.
   */
  async function build (
    context: Context<AnyCaller>, { ids, files, collections = false, select }: RomRequest
  ): Promise<LoadedRom[]> {
    const { caller } = context
    // The server's own views are not cached, because they contain other addresses.
    const cached = caller === null ? new Map<number, CachedRom>() : cache.find(ids, files)
    const stamps = Object.fromEntries([...cached].map(([id, { stamp }]) => [id, stamp]))
    const selection = { files, siblings_by: providers.identifying, collections }
    const callerRows = ids.length === 1 && cached.size === 1 ? await select({ ...selection, knownStamps: null }) : null
    const isUnchanged = callerRows?.every(({ id, stamp }) => stamp === stamps[id]) ?? false
    const rows = callerRows !== null && isUnchanged ? callerRows : await select({ ...selection, knownStamps: stamps })
    const found = rows.flatMap((row) => {
      const shared = row.rom === null ? cached.get(row.id) : createCacheEntry(row, row.rom, addressesFor(caller))
      if (shared === undefined) return []
      if (row.rom !== null && caller !== null) cache.store(row.id, files, shared)
      return [{ row, shared }]
    })
    const progress = await findProgress(context, found.flatMap(({ shared }) => shared.games))
    return found.map(({ row, shared }) =>
      ({ row, shared, rom: { shared: shared.json, more: toCallerView(row, shared.games, progress, providers) } }))
  }

  /** Builds the ROMs of these ids that the caller sees, in the order of the ids. */
  async function buildByIds (
    context: Context<AnyCaller>, ids: readonly number[], files: boolean
  ): Promise<LoadedRom[]> {
    const { caller } = context
    if (ids.length === 0) return []
    const condition = allOf([isOneOf(ids), isRomVisible(caller)])
    const found = await build(context, { ids, files, select: (selection) => selectRoms(context, condition, selection) })
    const byId = new Map(found.map((one) => [one.row.id, one]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  /** Returns the picture of each played ROM: that of the caller's newest save, else the game's own. */
  async function selectPictures (
    context: Context<AnyCaller>, found: readonly LoadedRom[]
  ): Promise<Map<number, string | null>> {
    const thumbnails = await userFiles.selectPictures(context, found.map(({ row }) => row.id))
    return new Map(found.map(({ row, shared: { stillPath } }) => {
      const address = stillPath === null ? null : app.resources.marked.locate(stillPath, formatDate(row.updated_at))
      return [row.id, thumbnails.get(row.id) ?? address]
    }))
  }

  /** Returns the shared part and the caller's part as one view, without the cache. */
  function toView (row: CallerRomRow, rom: RomRow, progress: readonly ProgressRow[], caller: AnyCaller): SimpleRomView {
    return {
      ...toSharedView(rom, providers, addressesFor(caller)),
      ...toCallerView(row, gamesOf(rom), progress, providers),
      screenshot_path: null
    }
  }

  /**
   * Returns the first ROM that meets a condition; null if there is none.
   *
   * @param id the ROM's id, if known
   */
  async function findOne (
    context: Context<AnyCaller>, condition: Condition, id: number | undefined, collections: boolean
  ): Promise<LoadedRom | null> {
    const { caller } = context
    const visible = allOf([isRomVisible(caller), condition])
    const ids = id === undefined ? [] : [id]
    const [found] = await build(context, {
      ids, files: true, collections, select: (selection) => selectFirstRom(context, visible, selection)
    })
    return found ?? null
  }

  async function get (context: Context<AnyCaller>, id: number): Promise<BuiltRom> {
    const found = await findOne(context, hasId(id), id, false)
    if (found === null) throw romNotFound(id)
    return found.rom
  }

  /** Returns the first ROM that meets a condition, with its assets, collections and notes; null if there is none. */
  async function findDetailed (
    context: Context<AnyCaller>, condition: Condition, id?: number
  ): Promise<BuiltDetailedRom | null> {
    const { db } = context
    const found = await findOne(context, condition, id, true)
    if (found === null) return null
    const { row, rom: { shared, more } } = found
    const [assets, collections, notes] = await Promise.all([
      row.has_assets ? userFiles.select(context, row.id) : userFiles.emptyDetails,
      findCollections(db, row),
      row.has_notes ? selectNotes(context, row.id) : []
    ])
    const own = { user_collections: collections, all_user_notes: notes.map(toNoteView) }
    return { shared, more: { ...more, ...assets, ...own } }
  }

  /** Returns the condition of a top-level list. Hidden ROMs are removed after the groups are formed. */
  function listCondition (
    caller: AnyCaller, query: ListRomsQuery,
    { order, regionPriority = [], smart = null, isSingleRom = false }: ConditionOptions
  ): Condition {
    const filterBy = (filters: ListRomsQuery) => allOf([
      isRomVisible(caller),
      ...scopeConditions(caller, query, query.search_term, smart),
      ...filterConditions(filters, { caller, providers, userFiles, isSingleRom }),
      ...(order.needsMarks ? [isMarked] : [])
    ])
    const filtered = filterBy(query)
    const shown = query.statuses.includes('hidden') || smart !== null ? [] : [isNotHidden(caller, order.joins !== NO_JOINS)]
    if (!query.group_by_meta_id) return allOf([filtered, ...shown])
    // All ROMs of a group are siblings. Another search for siblings would take as long as the grouping.
    const { duplicate: _isSame, ...otherConditions } = query
    const tables = markedRoms(userIdOf(caller))
    const isChosen = isRepresentative(tables, filterBy(otherConditions), providers.identifying, regionPriority)
    return allOf([filtered, isChosen, ...shown])
  }

  /** Returns the query, order and condition of a stored filter. */
  function readFilter (caller: AnyCaller, criteria: Criteria, isSingleRom = false): Pick<CachedList, 'query' | 'condition'> & { order: Order } {
    const query = readCriteria(criteria)
    const order = readOrder(query.order_by, query.order_dir, providers)
    return { query, order, condition: listCondition(caller, query, { order, isSingleRom }) }
  }

  /** Returns the condition of the smart collection that a query names; null if it names none. */
  async function smartCondition (
    context: Context<AnyCaller>, { smart_collection_id: id }: ScopeQuery
  ): Promise<Condition | null> {
    const { caller } = context
    if (id === undefined) return null
    const criteria = await selectCriteria(context, id)
    return criteria === null ? NOTHING : readFilter(caller, criteria).condition
  }

  /**
   * Returns the collections that contain a ROM. A smart collection contains the ROMs that its filter finds for its
   * owner.
   */
  async function findCollections (
    db: Db, { id: romId, collections }: CallerRomRow
  ): Promise<UserCollectionView[]> {
    const smart = collections.flatMap(({ filter_criteria: criteria, ...row }) =>
      criteria === null ? [] : [{ ...row, criteria }])
    const owners = await app.permissions.listViewers(smart.map((row) => row.user_id))
    const memberships = await selectMemberships(db, romId, smart.map(({ id, user_id: userId, criteria }) =>
      ({ key: id, userId, condition: readFilter(owners.get(userId) ?? null, criteria, true).condition })))
    return collections.filter(({ id, filter_criteria: criteria }) => criteria === null || memberships.has(id))
      .map(({ id, name, filter_criteria: criteria }) => ({ id, name, is_smart: criteria !== null }))
  }

  /**
   * Returns the ids of a page, and the index of the whole list if the query needs it.
   *
   * @param versions null if the whole list is not needed
   */
  async function readPage (
    context: Context<AnyCaller>, versions: VersionSnapshot | null, query: ListRomsQuery, order: Order
  ): Promise<{ ids: readonly number[], index: PageIndex }> {
    const { db, caller } = context
    const { limit, offset } = query
    const by = query.group_by_meta_id ? config.scan.priority.region : []
    const smart = await smartCondition(context, query)
    const condition = listCondition(caller, query, { order, regionPriority: by, smart })
    if (versions === null) {
      return { ids: await selectIds(db, userIdOf(caller), condition, { by: order.by, limit, offset }), index: NO_INDEX }
    }
    const index = await lists.index({ caller, versions, query, condition, by }, order)
    return { ids: [...index.ids.subarray(offset, offset + limit)], index }
  }

  async function inScope (context: Context<AnyCaller>, query: ScopeQuery, term: string): Promise<Condition> {
    const { caller } = context
    const smart = await smartCondition(context, query)
    const shown = smart === null ? [isNotHidden(caller, false)] : []
    return allOf([isRomVisible(caller), ...shown, ...scopeConditions(caller, query, term, smart)])
  }

  /** Returns all ROMs of a part of the library by name. */
  async function indexScope (context: Context<AnyCaller>, query: ScopeQuery): Promise<PageIndex> {
    const { db, caller } = context
    const versions = await selectVersions(db, userIdOf(caller))
    const condition = await inScope(context, query, '')
    return await lists.index({ caller, versions, query, condition }, readOrder('', '', providers))
  }

  /** Returns the part of the library whose filter values are listed. */
  async function scopeOf (
    context: Context<AnyCaller>, versions: VersionSnapshot, query: ScopeQuery, term: string
  ): Promise<CachedList> {
    const { caller } = context
    const scope = { ...pickScope(query), search_term: term }
    return { caller, versions, query: scope, condition: await inScope(context, query, term) }
  }

  const listSoonFilterValues = async (
    context: Context<AnyCaller>, versions: VersionSnapshot, query: ListRomsQuery
  ): Promise<RomFilters> => await lists.filterValuesSoon(await scopeOf(context, versions, query, query.search_term))

  return {
    providers,
    schemas: createRomSchemas(providers, userFiles.fields),
    storeLastPlayed,
    storePlays,

    async list (context: Context<AnyCaller>, input: ListRomsQuery): Promise<RomPage> {
      const { db, caller } = context
      const query = withOldNames(input)
      const { limit, offset } = query
      const order = readOrder(query.order_by, query.order_dir, providers)
      const needs = { index: needsIndex(query, order), values: query.with_filter_values }
      const versions = needs.index || needs.values ? await selectVersions(db, userIdOf(caller)) : null
      const [{ ids, index }, filterValues] = await Promise.all([
        readPage(context, needs.index ? versions : null, query, order),
        versions === null || !needs.values
          ? noFilterValues()
          : listSoonFilterValues(context, versions, query)
      ])
      const found = await buildByIds(context, ids, query.with_files)
      const pictures = query.last_played === true ? await selectPictures(context, found) : null
      const items = found.map(({ row, rom: { shared, more } }) =>
        ({ shared, more: { ...more, screenshot_path: pictures?.get(row.id) ?? null } }))
      return {
        items,
        total: query.with_total || query.with_rom_id_index ? index.ids.length : null,
        limit,
        offset,
        char_index: query.with_char_index ? index.characters : {},
        filter_values: filterValues,
        rom_id_index: { text: query.with_rom_id_index ? index.text : null }
      }
    },

    /** Lists the visible ROMs that the caller has not hidden, by name. */
    listIds: async (context: Context<AnyCaller>): Promise<CachedText> =>
      (await indexScope(context, NO_SCOPE)).text,

    /** Lists the ids of the ROMs in a part of the library, by name. */
    listScope: async (context: Context<AnyCaller>, query: ScopeQuery): Promise<number[]> =>
      [...(await indexScope(context, query)).ids],

    /** Lists the ids of all ROMs that a stored filter finds for a caller, in the order of the filter. */
    async listFiltered ({ db, caller }: Context<AnyCaller>, criteria: Criteria): Promise<Int32Array> {
      const versions = await selectVersions(db, userIdOf(caller))
      const { order, ...filter } = readFilter(caller, criteria)
      return (await lists.index({ caller, versions, ...filter }, order)).ids
    },

    async pickRandom (context: Context<AnyCaller>, query: ScopeQuery): Promise<BuiltSimpleRom | null> {
      const { ids } = await indexScope(context, query)
      const id = ids[Math.floor(Math.random() * ids.length)]
      const [found] = id === undefined ? [] : await buildByIds(context, [id], false)
      return found === undefined ? null : toSimple(found.rom)
    },

    listFilterValues: async (context: Context<AnyCaller>): Promise<RomFilters> =>
      await lists.filterValues(await scopeOf(context, await selectVersions(context.db, userIdOf(context.caller)), NO_SCOPE, '')),

    /** @throws ApiError NOT_FOUND unless the caller sees the ROM */
    async checkVisible (context: Context<AnyCaller>, id: number): Promise<void> {
      if (!await hasVisible(context, id)) throw romNotFound(id)
    },

    getSimple: async (context: Context<AnyCaller>, id: number): Promise<BuiltSimpleRom> =>
      toSimple(await get(context, id)),

    async getDetailed (context: Context<AnyCaller>, id: number): Promise<BuiltDetailedRom> {
      const rom = await findDetailed(context, hasId(id), id)
      if (rom === null) throw romNotFound(id)
      return rom
    },

    /** @param ids by provider key */
    async findByProviderId (
      context: Context<AnyCaller>, ids: Readonly<Record<string, number | string>>
    ): Promise<BuiltDetailedRom> {
      if (Object.keys(ids).length === 0) throw badRequest('The request has no id; send at least one, such as igdb_id')
      const rom = await findDetailed(context, hasProviderId(ids))
      if (rom === null) throw notFound('No ROM has any of these ids')
      return rom
    },

    async findByHash (context: Context<AnyCaller>, hashes: HashQuery): Promise<BuiltDetailedRom> {
      if (Object.values(hashes).every((hash) => hash === '')) {
        throw badRequest('The request has no hash; send at least one of crc_hash, md5_hash, sha1_hash, ra_hash')
      }
      const rom = await findDetailed(context, hasHash(hashes))
      if (rom === null) throw notFound('No ROM has any of these hashes')
      return rom
    },

    async getFile (context: Context<AnyCaller>, fileId: number): Promise<RomFileView> {
      const row = await selectFile(context, fileId)
      if (row === null) throw notFound('File not found')
      return toFileView(row)
    },

    async mark (context: Context, id: number, change: MarksChange): Promise<RomUserView> {
      const { db, caller } = context
      const { more } = await get(context, id)
      await writeMarks(db, caller.id, id, more.sibling_roms.map((sibling) => sibling.id), change)
      return (await get(context, id)).more.rom_user
    },

    /**
     * Returns ROMs in the order of the ids, as in lists but without files and siblings. Skips ids without a row. For
     * the server's own events: the sender must check visibility.
     *
     * @param userId the user whose marks are shown; null for no marks
     */
    async views (ids: readonly number[], userId: number | null): Promise<SimpleRomView[]> {
      const db = app.db
      const caller: AnyCaller = userId === null ? null : { id: userId, access: ADMIN_ACCESS }
      const condition = allOf([isOneOf(ids), isRomVisible(caller)])
      const rows = await selectRoms({ db, caller }, condition, { files: false, siblings_by: null })
      const progress = await findProgress({ db, caller }, rows.flatMap(({ rom }) => rom === null ? [] : gamesOf(rom)))
      const views = new Map(rows.flatMap((row) =>
        row.rom === null ? [] : [[row.id, toView(row, row.rom, progress, caller)] as const]))
      return ids.flatMap((id) => views.get(id) ?? [])
    }
  }
}
