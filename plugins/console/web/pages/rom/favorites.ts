import {
  addToCollection, findFavorites, loadFavorites, removeFromCollection, useCollections
} from '../../api/collections.ts'

/** Returns if a ROM is a favourite, and a function that changes that. The first favourite creates the collection. */
export function useFavorite (romId: number) {
  const { data: { value: all } } = useCollections()
  const favorites = findFavorites(all ?? [])
  const isFavorite = favorites?.rom_ids.includes(romId) ?? false

  async function toggle (): Promise<void> {
    const { id } = favorites ?? await loadFavorites()
    await (isFavorite ? removeFromCollection(id, [romId]) : addToCollection(id, [romId]))
  }

  return { isFavorite, isReady: all !== undefined, toggle }
}
