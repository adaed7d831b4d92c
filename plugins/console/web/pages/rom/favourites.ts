import {
  addToCollection, findFavorites, loadFavorites, removeFromCollection, useCollections
} from '../../api/collections.ts'

/** Returns if a ROM is a favourite, and a function that changes that. The first favourite creates the collection. */
export function useFavourite (romId: number) {
  const { data: { value: all } } = useCollections()
  const favourites = findFavorites(all ?? [])
  const isFavourite = favourites?.rom_ids.includes(romId) ?? false

  async function toggle (): Promise<void> {
    const { id } = favourites ?? await loadFavorites()
    await (isFavourite ? removeFromCollection(id, [romId]) : addToCollection(id, [romId]))
  }

  return { isFavourite, isReady: all !== undefined, toggle }
}
