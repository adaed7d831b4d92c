import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { Caller } from '../../core/access/auth.ts'
import { ADMIN_ACCESS } from '../../core/access/grants.ts'
import type { Config } from '../../core/config/config.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { selectRomAssets, selectThumbnailPaths } from '../assets/rom-assets.ts'
import { type Moment, selectMoment } from '../library/version-rows.ts'
import type { Viewer } from '../platforms/visibility.ts'
import {
  type Condition, type HashQuery, every, filterConditions, hasHash, isNotHidden, scopeConditions
} from './conditions.ts'
import { noFilterValues } from './filter-value-rows.ts'
import { isRepresentative } from './grouping.ts'
import { createKeptLists, needsIndex } from './kept-lists.ts'
import { KeptText } from './kept-text.ts'
import { type ListRomsQuery, type ScopeQuery, pickScope, withOldNames } from './list-query.ts'
import { type MarksChange, writeMarks } from './mark-rows.ts'
import { type Order, readOrder } from './order.ts'
import type { PageIndex } from './page-index-rows.ts'
import { noteLastPlayed, notePlayed } from './played-rows.ts'
import { type RomRow, markedRoms, selectFile, selectParts, selectProgress, selectRoms } from './rows.ts'
import type { DetailedRomView, RomFileView, RomFilters, RomPage, RomUserView, RomView, SimpleRomView } from './schemas.ts'
import { type RomProviders, createRomProviders } from './providers.ts'
import { stillOf, toFileView, toRomView } from './views.ts'
import { isRomVisible } from './visibility.ts'

const toSimple = (view: RomView): SimpleRomView => ({ ...view, screenshot_path: null })

const toDetailed = async (em: EntityManager, viewer: Viewer, view: RomView): Promise<DetailedRomView> =>
  ({ ...view, ...await selectRomAssets(em, viewer, view.id), user_collections: [], all_user_notes: [] })

const unknownRom = (id: number) => notFound(`ROM with ID '${id}' not found`)

const FIRST = sql`order by r.id limit 1`
const NO_SCOPE: ScopeQuery = { platform_ids: [] }
const NO_INDEX: PageIndex = { ids: new Int32Array(), text: new KeptText('[]'), characters: {} }

/** A library is large whose values take longer. */
const FILTER_VALUES_WAIT_MS = 2_000

const NO_PARTS = { matches: [], siblings: [], files: [] }

/** The first ROM by any of the ids given, which are keyed by provider. */
function hasSourceId (ids: Readonly<Record<string, number | string>>): Condition {
  const pairs = Object.entries(ids).map(([key, id]) => sql<boolean>`(m.provider = ${key} and m.provider_id = ${String(id)})`)
  return sql<boolean>`exists (select 1 from rom_matches m where m.rom_id = r.id and (${sql.join(pairs, sql` or `)}))`
}

export function createRoms (app: FastifyInstance, config: Config) {
  const providers: RomProviders = createRomProviders(app.registry)
  /** The providers that tell how a user fares. */
  const telling = providers.all.filter((provider) => provider.progress !== null).map(({ key }) => key)
  const userOf = (viewer: Viewer) => viewer?.id ?? null
  const lists = createKeptLists(app.longReads)

  async function toViews (
    em: EntityManager, viewer: Viewer, rows: readonly RomRow[], extras: { files: boolean, siblings: boolean }
  ): Promise<RomView[]> {
    const ids = rows.map((row) => row.id)
    if (ids.length === 0) return []
    const parts = await selectParts(em, ids, {
      files: extras.files, siblings: extras.siblings ? { viewer, keys: providers.identifying } : null
    })
    const progress = viewer === null || telling.length === 0
      ? []
      : await selectProgress(em, viewer.id, telling, [...parts.values()].flatMap(({ matches }) => matches))
    // What the server tells everybody opens nothing.
    const addresses = viewer === null ? app.resources.plain : app.resources.marked
    return rows.map((row) => toRomView(row, { ...(parts.get(row.id) ?? NO_PARTS), progress }, providers, addresses))
  }

  /** The rows in the order of the ids; ids without a row are left out, and rows that the viewer may not see. */
  async function selectByIds (em: EntityManager, viewer: Viewer, ids: readonly number[]): Promise<RomRow[]> {
    if (ids.length === 0) return []
    const rows = await selectRoms(em, userOf(viewer), every([sql<boolean>`r.id = any(${ids}::int[])`, isRomVisible(viewer)]))
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  /** The picture of each ROM that was played: of the viewer's newest save, else the game's own. */
  async function selectPictures (
    em: EntityManager, viewer: Viewer, rows: readonly RomRow[]
  ): Promise<Map<number, string | null>> {
    const thumbnails = await selectThumbnailPaths(em, viewer, rows.map((row) => row.id))
    return new Map(rows.map((row) => {
      const still = stillOf(row)
      const address = still === null ? null : app.resources.marked.locate(still, formatDate(row.updated_at))
      return [row.id, thumbnails.get(row.id) ?? address]
    }))
  }

  async function find (
    em: EntityManager, viewer: Viewer, condition: Condition, tail: RawBuilder<unknown>
  ): Promise<RomView | null> {
    const rows = await selectRoms(em, userOf(viewer), every([isRomVisible(viewer), condition]), tail)
    return (await toViews(em, viewer, rows, { files: true, siblings: true }))[0] ?? null
  }

  async function get (em: EntityManager, viewer: Viewer, id: number): Promise<RomView> {
    const view = await find(em, viewer, sql<boolean>`r.id = ${id}`, sql``)
    if (view === null) throw unknownRom(id)
    return view
  }

  /** The whole condition of a list; what the viewer hid goes after the groups are made. */
  function listCondition (
    viewer: Viewer, query: ListRomsQuery, needsMarks: boolean, regionPriority: readonly string[]
  ): Condition {
    const narrowed = every([
      isRomVisible(viewer),
      ...scopeConditions(query, query.search_term),
      ...filterConditions(query, providers, viewer),
      ...(needsMarks ? [sql<boolean>`u.id is not null`] : [])
    ])
    const shown = query.statuses.includes('hidden') ? [] : [isNotHidden(viewer)]
    if (!query.group_by_meta_id) return every([narrowed, ...shown])
    const tables = markedRoms(userOf(viewer))
    return every([isRepresentative(tables, narrowed, providers.identifying, regionPriority), ...shown])
  }

  /** The page of a list, and what is known of the whole list where it was needed. */
  async function readPage (
    em: EntityManager, viewer: Viewer, moment: Moment, query: ListRomsQuery, order: Order
  ): Promise<{ rows: RomRow[], index: PageIndex }> {
    const { limit, offset } = query
    const by = query.group_by_meta_id ? config.scan.priority.region : []
    const condition = listCondition(viewer, query, order.needsMarks, by)
    if (!needsIndex(query, order)) {
      const tail = sql`order by ${order.by} limit ${limit} offset ${offset}`
      return { rows: await selectRoms(em, userOf(viewer), condition, tail), index: NO_INDEX }
    }
    const index = await lists.index({ viewer, moment, query, condition, by }, order)
    return { rows: await selectByIds(em, viewer, [...index.ids.subarray(offset, offset + limit)]), index }
  }

  const inScope = (viewer: Viewer, query: ScopeQuery, term: string): Condition =>
    every([isRomVisible(viewer), isNotHidden(viewer), ...scopeConditions(query, term)])

  /** All ROMs of a part of the library by name. */
  async function indexScope (em: EntityManager, viewer: Viewer, query: ScopeQuery): Promise<PageIndex> {
    const moment = await selectMoment(em, userOf(viewer))
    return await lists.index({ viewer, moment, query, condition: inScope(viewer, query, '') }, readOrder('', '', providers))
  }

  async function listFilterValues (
    viewer: Viewer, moment: Moment, query: ScopeQuery, term: string
  ): Promise<RomFilters> {
    const scope = { ...pickScope(query), search_term: term }
    return await lists.filterValues({ viewer, moment, query: scope, condition: inScope(viewer, query, term) })
  }

  /** They do not keep a page waiting: while they are being worked out it goes without, and the next one has them. */
  async function listSoonFilterValues (viewer: Viewer, moment: Moment, query: ListRomsQuery): Promise<RomFilters> {
    const values = listFilterValues(viewer, moment, query, query.search_term)
    values.catch(() => {})
    return await Promise.race([values, sleep(FILTER_VALUES_WAIT_MS, noFilterValues(), { ref: false })])
  }

  return {
    providers,
    noteLastPlayed,
    notePlayed,

    async list (em: EntityManager, viewer: Viewer, input: ListRomsQuery): Promise<RomPage> {
      const query = withOldNames(input)
      const { limit, offset } = query
      const order = readOrder(query.order_by, query.order_dir, providers)
      const moment = await selectMoment(em, userOf(viewer))
      const [{ rows, index }, filterValues] = await Promise.all([
        readPage(em, viewer, moment, query, order),
        query.with_filter_values ? listSoonFilterValues(viewer, moment, query) : noFilterValues()
      ])
      const views = await toViews(em, viewer, rows, { files: query.with_files, siblings: true })
      const pictures = query.last_played === true ? await selectPictures(em, viewer, rows) : null
      const items = views.map((view) => ({ ...view, screenshot_path: pictures?.get(view.id) ?? null }))
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

    /** The visible ROMs a viewer has not hidden, by name. */
    listIds: async (em: EntityManager, viewer: Viewer): Promise<KeptText> =>
      (await indexScope(em, viewer, NO_SCOPE)).text,

    async pickRandom (em: EntityManager, viewer: Viewer, query: ScopeQuery): Promise<SimpleRomView | null> {
      const { ids } = await indexScope(em, viewer, query)
      const id = ids[Math.floor(Math.random() * ids.length)]
      const view = id === undefined ? null : await find(em, viewer, sql<boolean>`r.id = ${id}`, sql``)
      return view === null ? null : toSimple({ ...view, files: [] })
    },

    listFilterValues: async (em: EntityManager, viewer: Viewer): Promise<RomFilters> =>
      await listFilterValues(viewer, await selectMoment(em, userOf(viewer)), NO_SCOPE, ''),

    getSimple: async (em: EntityManager, viewer: Viewer, id: number): Promise<SimpleRomView> =>
      toSimple(await get(em, viewer, id)),

    getDetailed: async (em: EntityManager, viewer: Viewer, id: number): Promise<DetailedRomView> =>
      await toDetailed(em, viewer, await get(em, viewer, id)),

    /** @param ids by provider key */
    async findBySource (
      em: EntityManager, viewer: Viewer, ids: Readonly<Record<string, number | string>>
    ): Promise<DetailedRomView> {
      if (Object.keys(ids).length === 0) throw badRequest('Give at least one id, such as igdb_id')
      const view = await find(em, viewer, hasSourceId(ids), FIRST)
      if (view === null) throw notFound('No ROM has any of these ids')
      return await toDetailed(em, viewer, view)
    },

    async findByHash (em: EntityManager, viewer: Viewer, hashes: HashQuery): Promise<DetailedRomView> {
      if (Object.values(hashes).every((hash) => hash === '')) {
        throw badRequest('Give at least one of crc_hash, md5_hash, sha1_hash, ra_hash')
      }
      const view = await find(em, viewer, hasHash(hashes), FIRST)
      if (view === null) throw notFound('No ROM has any of these hashes')
      return await toDetailed(em, viewer, view)
    },

    async getFile (em: EntityManager, viewer: Viewer, fileId: number): Promise<RomFileView> {
      const row = await selectFile(em, viewer, fileId)
      if (row === null) throw notFound('File not found')
      return toFileView(row)
    },

    async mark (em: EntityManager, caller: Caller, id: number, change: MarksChange): Promise<RomUserView> {
      const rom = await get(em, caller, id)
      await writeMarks(em, caller.id, id, rom.sibling_roms.map((sibling) => sibling.id), change)
      return (await get(em, caller, id)).rom_user
    },

    /**
     * ROMs in the order of the ids, as lists show them but without files and siblings; ids without a row are left out.
     * For the server's own events: visibility is the concern of whoever sends them.
     *
     * @param userId whose marks are shown; null for nobody's
     */
    async views (ids: readonly number[], userId: number | null): Promise<SimpleRomView[]> {
      const em = app.orm.em.fork()
      const viewer: Viewer = userId === null ? null : { id: userId, access: ADMIN_ACCESS }
      const rows = await selectByIds(em, viewer, ids)
      return (await toViews(em, viewer, rows, { files: false, siblings: false })).map(toSimple)
    }
  }
}
