import { Value } from '@sinclair/typebox/value'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { formatDate } from '../../../core/typebox.ts'
import { type VersionSnapshot, selectVersions } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Addresses } from '../../resources/addresses.ts'
import type { RomExtensions, UserFiles } from '../extensions.ts'
import { noFilterValues } from '../filters/filter-value-rows.ts'
import { ListRomsQuery, withOldNames } from '../filters/list-query.ts'
import type { LoadedRom, RomBuilder } from '../items/rom-builder.ts'
import type { BuiltSimpleRom, RomFilters, RomPage } from '../schemas.ts'
import { type CachedList, type ListCache, needsIndex } from './list-cache.ts'
import { type Order, readOrder } from './list-order.ts'
import { ListIndex } from './list-index.ts'
import { findFilterScope, findSmartCondition, listCondition } from './query-conditions.ts'
import { estimateWalk, walkToPage } from './walk-rows.ts'

const NO_INDEX = ListIndex.of(new Int32Array(), new Uint32Array())

/** ROMs that are read first for a page that needs no index: some milliseconds. */
const NEAR_ROMS = 2_000
/** ROMs that are read next, before the index of the whole list: some hundredths of a second. */
const FAR_ROMS = 20_000

/** Loads the versions once per request, if at all. */
type LoadVersions = () => Promise<VersionSnapshot>

interface RomPageParts {
  config: Config
  extensions: RomExtensions
  builder: RomBuilder
  cache: ListCache
  /** The addresses of pictures. */
  addresses: Addresses
}

/** Returns the picture of each played ROM: that of the caller's newest save, else the game's own. */
async function selectPictures (
  context: Context<AnyCaller>, found: readonly LoadedRom[], userFiles: UserFiles, addresses: Addresses
): Promise<Map<number, string | null>> {
  const thumbnails = await userFiles.selectPictures(context, found.map(({ row }) => row.id))
  return new Map(found.map(({ row, shared: { stillPath } }) => {
    const address = stillPath === null ? null : addresses.locate(stillPath, formatDate(row.updated_at))
    return [row.id, thumbnails.get(row.id) ?? address]
  }))
}

/** Returns the platform of a list of one platform, else null. */
function findOnlyPlatform ({ platform_ids: ids, platform_id: id }: ListRomsQuery): number | null {
  const [first, ...others] = id === undefined ? ids : [...ids, id]
  return first === undefined || others.length > 0 ? null : first
}

/** Creates the part of the ROMs service that lists a page of ROMs. */
export function createRomPages ({ config, extensions, builder, cache, addresses }: RomPageParts) {
  const { providers, userFiles } = extensions

  /** Returns the ids of a page, and the index of the whole list if the query needs it, or few ROMs meet its filters. */
  async function readPage (
    context: Context<AnyCaller>, query: ListRomsQuery, order: Order, loadVersions: LoadVersions
  ): Promise<{ ids: readonly number[], index: ListIndex }> {
    const { db, caller } = context
    const { limit, offset } = query
    const by = query.group_by_meta_id ? config.scan.priority.region : []
    const options = { order, regionPriority: by, smart: await findSmartCondition(context, extensions, query) }
    const condition: CachedList['condition'] = (viewer, isForFew) =>
      listCondition(viewer, extensions, query, { ...options, isForFew })
    const platformId = findOnlyPlatform(query)
    const walk = {
      userId: caller?.id ?? null, condition: condition(caller, true), by: order.by, platformId, limit, offset
    }
    const isNear = !needsIndex(query, order)
    const near = isNear ? await walkToPage(db, walk, NEAR_ROMS) : null
    if (near !== null) return { ids: near, index: NO_INDEX }
    const list = { caller, versions: await loadVersions(), query, condition, by }
    const isFar = isNear && cache.findIndex(list, order) === null && await estimateWalk(db, walk) < FAR_ROMS / 2
    const far = isFar ? await walkToPage(db, walk, FAR_ROMS) : null
    if (far !== null) return { ids: far, index: NO_INDEX }
    const index = await cache.index(list, order)
    return { ids: index.slice(offset, limit), index }
  }

  /** Builds the ROMs of a page. A list of played ROMs shows the picture of each. */
  async function buildItems (
    context: Context<AnyCaller>, ids: readonly number[], query: ListRomsQuery
  ): Promise<BuiltSimpleRom[]> {
    const found = await builder.buildByIds(context, ids, query.with_files)
    const pictures = query.last_played === true
      ? await selectPictures(context, found, userFiles, addresses)
      : null
    return found.map(({ row, rom: { shared, more } }) =>
      ({ shared, more: { ...more, screenshot_path: pictures?.get(row.id) ?? null } }))
  }

  async function readFilterValues (
    context: Context<AnyCaller>, query: ListRomsQuery, loadVersions: LoadVersions
  ): Promise<RomFilters> {
    return await cache.filterValuesSoon(await findFilterScope(context, extensions, await loadVersions(), query))
  }

  async function list (context: Context<AnyCaller>, input: ListRomsQuery): Promise<RomPage> {
    const query = withOldNames(input)
    const order = readOrder(query.order_by, query.order_dir, providers)
    let versions: Promise<VersionSnapshot> | null = null
    const loadVersions = async () => {
      versions ??= selectVersions(context.db, context.caller?.id ?? null)
      return await versions
    }
    const [{ ids, index }, filterValues] = await Promise.all([
      readPage(context, query, order, loadVersions),
      query.with_filter_values ? readFilterValues(context, query, loadVersions) : noFilterValues()
    ])
    return {
      items: await buildItems(context, ids, query),
      total: query.with_total || query.with_rom_id_index ? index.length : null,
      limit: query.limit,
      offset: query.offset,
      char_index: query.with_char_index ? index.offsets : {},
      filter_values: filterValues,
      rom_id_index: { texts: query.with_rom_id_index ? index.texts : null }
    }
  }

  return {
    list,

    /** Reads the lists that apps show first, so that no caller waits for them. */
    async prepareLists (db: Db): Promise<void> {
      const order = readOrder('', '', providers)
      for (const isGrouped of [false, true]) {
        const query = { ...Value.Create(ListRomsQuery), group_by_meta_id: isGrouped }
        await readPage({ db, caller: null }, query, order, () => selectVersions(db, null))
      }
    }
  }
}
