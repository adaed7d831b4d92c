/** The orders of the list of collections. */
export const COLLECTION_ORDERS = ['name', 'updated', 'count'] as const
export type CollectionOrder = typeof COLLECTION_ORDERS[number]

interface Sortable {
  readonly name: string
  readonly updated_at: string
  readonly rom_count: number
  readonly is_favorite: boolean
  readonly owner_username?: string
}

const COMPARE: Readonly<Record<CollectionOrder, (one: Sortable, other: Sortable) => number>> = {
  name: (one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }),
  updated: (one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at),
  count: (one, other) => other.rom_count - one.rom_count
}

/** Returns the collections whose name or owner contains a text, in an order; favourites come first. */
export function sortCollections<Item extends Sortable> (all: readonly Item[], order: CollectionOrder, text = ''): Item[] {
  const wanted = text.trim().toLowerCase()
  return all.filter(({ name, owner_username: owner = '' }) => `${name} ${owner}`.toLowerCase().includes(wanted))
    .sort((one, other) =>
      Number(other.is_favorite) - Number(one.is_favorite) || COMPARE[order](one, other) || COMPARE.name(one, other))
}
