import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { Caller } from '../../core/access/auth.ts'
import { ADMIN_ACCESS } from '../../core/access/grants.ts'
import type { Config } from '../../core/config/config.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { selectRomAssets, selectThumbnailPaths } from '../assets/rom-assets.ts'
import type { Viewer } from '../platforms/visibility.ts'
import {
  type Condition, type HashQuery, every, filterConditions, hasHash, isNotHidden, scopeConditions
} from './conditions.ts'
import { noFilterValues, selectFilterValues } from './filter-value-rows.ts'
import { isRepresentative } from './grouping.ts'
import { type ListRomsQuery, type ScopeQuery, withOldNames } from './list-query.ts'
import { type MarksChange, writeMarks } from './mark-rows.ts'
import { readOrder } from './order.ts'
import { selectPageIndex } from './page-index-rows.ts'
import { noteLastPlayed, notePlayed } from './played-rows.ts'
import { type RomRow, romTables, selectFile, selectParts, selectProgress, selectRoms } from './rows.ts'
import type { DetailedRomView, RomFileView, RomFilters, RomPage, RomUserView, RomView, SimpleRomView } from './schemas.ts'
import { type RomProviders, createRomProviders } from './providers.ts'
import { stillOf, toFileView, toRomView } from './views.ts'
import { isRomVisible } from './visibility.ts'

const toSimple = (view: RomView): SimpleRomView => ({ ...view, screenshot_path: null })

const toDetailed = async (em: EntityManager, viewer: Viewer, view: RomView): Promise<DetailedRomView> =>
  ({ ...view, ...await selectRomAssets(em, viewer, view.id), user_collections: [], all_user_notes: [] })

const unknownRom = (id: number) => notFound(`ROM with ID '${id}' not found`)

const BY_NAME = sql`order by r.name_sort_key, r.id`
const FIRST = sql`order by r.id limit 1`

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

  /** The rows in the order of the ids; ids without a row are left out. */
  async function selectByIds (em: EntityManager, viewer: Viewer, ids: readonly number[]): Promise<RomRow[]> {
    const rows = await selectRoms(em, userOf(viewer), sql<boolean>`r.id = any(${ids}::int[])`)
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
  function listCondition (viewer: Viewer, query: ListRomsQuery, needsMarks: boolean): Condition {
    const narrowed = every([
      isRomVisible(viewer),
      ...scopeConditions(query, query.search_term),
      ...filterConditions(query, providers, viewer),
      ...(needsMarks ? [sql<boolean>`u.id is not null`] : [])
    ])
    const shown = query.statuses.includes('hidden') ? [] : [isNotHidden]
    if (!query.group_by_meta_id) return every([narrowed, ...shown])
    const tables = romTables(userOf(viewer))
    return every([isRepresentative(tables, narrowed, providers.identifying, config.scan.priority.region), ...shown])
  }

  return {
    providers,
    noteLastPlayed,
    notePlayed,

    async list (em: EntityManager, viewer: Viewer, input: ListRomsQuery): Promise<RomPage> {
      const query = withOldNames(input)
      const { limit, offset } = query
      const order = readOrder(query.order_by, query.order_dir, providers)
      const condition = listCondition(viewer, query, order.needsMarks)
      const scope = every([isRomVisible(viewer), isNotHidden, ...scopeConditions(query, query.search_term)])
      const indexing = selectPageIndex(em, userOf(viewer), condition, order, {
        total: query.with_total, characters: query.with_char_index, ids: query.with_rom_id_index
      })
      // The index of all ids holds the page: filtering and sorting once is enough.
      const reading = query.with_rom_id_index
        ? indexing.then(({ rom_id_index: ids }) => selectByIds(em, viewer, ids.slice(offset, offset + limit)))
        : selectRoms(em, userOf(viewer), condition, sql`order by ${order.by} limit ${limit} offset ${offset}`)
      const [rows, index, filterValues] = await Promise.all([
        reading, indexing, query.with_filter_values ? selectFilterValues(em, userOf(viewer), scope) : noFilterValues()
      ])
      const views = await toViews(em, viewer, rows, { files: query.with_files, siblings: true })
      const pictures = query.last_played === true ? await selectPictures(em, viewer, rows) : null
      const items = views.map((view) => ({ ...view, screenshot_path: pictures?.get(view.id) ?? null }))
      return { items, ...index, limit, offset, filter_values: filterValues }
    },

    /** The visible ROMs a viewer has not hidden, by name. */
    async listIds (em: EntityManager, viewer: Viewer): Promise<number[]> {
      const { rows } = await sql<{ id: number }>`select r.id from ${romTables(userOf(viewer))}
        where ${every([isRomVisible(viewer), isNotHidden])} ${BY_NAME}`.execute(em.getKysely())
      return rows.map((row) => row.id)
    },

    async pickRandom (em: EntityManager, viewer: Viewer, query: ScopeQuery): Promise<SimpleRomView | null> {
      const picked = sql<boolean>`r.id = (select r.id from ${romTables(userOf(viewer))}
        where ${every([isRomVisible(viewer), isNotHidden, ...scopeConditions(query)])} order by random() limit 1)`
      const view = await find(em, viewer, picked, sql``)
      return view === null ? null : toSimple({ ...view, files: [] })
    },

    listFilterValues: (em: EntityManager, viewer: Viewer): Promise<RomFilters> =>
      selectFilterValues(em, userOf(viewer), every([isRomVisible(viewer), isNotHidden])),

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
