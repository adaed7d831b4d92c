import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { formatDate } from '../../../core/typebox.ts'
import { type VersionSnapshot, selectVersions } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Addresses } from '../../resources/addresses.ts'
import { CachedText } from '../../../core/web/cached-text.ts'
import type { RomExtensions, UserFiles } from '../extensions.ts'
import { noFilterValues } from '../filters/filter-value-rows.ts'
import { type ListRomsQuery, withOldNames } from '../filters/list-query.ts'
import type { LoadedRom, RomBuilder } from '../items/rom-builder.ts'
import { selectIds } from '../rows.ts'
import type { BuiltSimpleRom, RomPage } from '../schemas.ts'
import { type ListCache, needsIndex } from './list-cache.ts'
import { type Order, readOrder } from './list-order.ts'
import type { PageIndex } from './page-index-rows.ts'
import { findFilterScope, findSmartCondition, listCondition } from './query-conditions.ts'

const NO_INDEX: PageIndex = { ids: new Int32Array(), text: new CachedText('[]'), characters: {} }

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

/** Creates the part of the ROMs service that lists a page of ROMs. */
export function createRomPages ({ config, extensions, builder, cache, addresses }: RomPageParts) {
  const { providers, userFiles } = extensions

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
    const smart = await findSmartCondition(context, extensions, query)
    const condition = listCondition(caller, extensions, query, { order, regionPriority: by, smart })
    if (versions === null) {
      const ids = await selectIds(db, caller?.id ?? null, condition, { by: order.by, limit, offset })
      return { ids, index: NO_INDEX }
    }
    const index = await cache.index({ caller, versions, query, condition, by }, order)
    return { ids: [...index.ids.subarray(offset, offset + limit)], index }
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

  async function list (context: Context<AnyCaller>, input: ListRomsQuery): Promise<RomPage> {
    const query = withOldNames(input)
    const order = readOrder(query.order_by, query.order_dir, providers)
    const needs = { index: needsIndex(query, order), values: query.with_filter_values }
    const versions = needs.index || needs.values ? await selectVersions(context.db, context.caller?.id ?? null) : null
    const [{ ids, index }, filterValues] = await Promise.all([
      readPage(context, needs.index ? versions : null, query, order),
      versions === null || !needs.values
        ? noFilterValues()
        : findFilterScope(context, extensions, versions, query).then(cache.filterValuesSoon)
    ])
    return {
      items: await buildItems(context, ids, query),
      total: query.with_total || query.with_rom_id_index ? index.ids.length : null,
      limit: query.limit,
      offset: query.offset,
      char_index: query.with_char_index ? index.characters : {},
      filter_values: filterValues,
      rom_id_index: { text: query.with_rom_id_index ? index.text : null }
    }
  }

  return { list }
}
