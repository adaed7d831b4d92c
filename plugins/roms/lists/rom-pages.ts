import type { Context } from '../../../core/access/context.ts'
import { formatDate } from '../../../core/typebox.ts'
import { type VersionSnapshot, selectVersions } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Addresses } from '../../resources/addresses.ts'
import type { RomExtensions, UserFiles } from '../extensions.ts'
import { type CountedFilters, NO_FILTERS } from '../filters/filter-value-rows.ts'
import { type ListRomsQuery, withOldNames } from '../filters/list-query.ts'
import type { LoadedRom, RomBuilder } from '../items/rom-builder.ts'
import type { BuiltSimpleRom, RomPage } from '../schemas.ts'
import type { FilterValueCache } from './filter-value-cache.ts'
import { ORDER_BY_NAME, readOrder } from './list-order.ts'
import type { LoadVersions, PageReader } from './page-reader.ts'
import { prepareConditions, queryOfScope } from './query-conditions.ts'

interface RomPageParts {
  extensions: RomExtensions
  builder: RomBuilder
  reader: PageReader
  filterValues: FilterValueCache
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
export function createRomPages ({ extensions, builder, reader, filterValues, addresses }: RomPageParts) {
  const { providers, userFiles } = extensions

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
  ): Promise<CountedFilters> {
    const scope = queryOfScope(query, query.search_term)
    const conditions = await prepareConditions(context, extensions, { query: scope, order: ORDER_BY_NAME })
    const common = { caller: context.caller, versions: await loadVersions() }
    return await filterValues.getSoon(conditions.describe(scope, common))
  }

  async function list (context: Context<AnyCaller>, input: ListRomsQuery): Promise<RomPage> {
    const { query, order } = readOrder(withOldNames(input), providers)
    let versions: Promise<VersionSnapshot> | null = null
    const loadVersions = async () => {
      versions ??= selectVersions(context.db, context.caller?.id ?? null)
      return await versions
    }
    const [{ ids, index, total }, { values, counts }] = await Promise.all([
      reader.read(context, query, order, loadVersions),
      query.with_filter_values ? readFilterValues(context, query, loadVersions) : NO_FILTERS
    ])
    return {
      items: await buildItems(context, ids, query),
      total: query.with_total || query.with_rom_id_index ? total : null,
      limit: query.limit,
      offset: query.offset,
      char_index: query.with_char_index ? index.offsets : {},
      filter_values: values,
      ...(query.with_filter_counts === true && counts !== null ? { filter_counts: counts } : {}),
      rom_id_index: { texts: query.with_rom_id_index ? index.texts : null }
    }
  }

  return { list }
}
