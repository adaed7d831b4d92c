import { deleteFolder } from '../../core/store/move-object.ts'
import type { Store } from '../../core/store/store.ts'
import { resourceKey } from '../resources/resource-key.ts'
import { artworkFolder } from './artwork.ts'

const ROOT = 'roms'
const ID = /^[1-9]\d{0,9}$/

/** Creates the access to the artwork folders of the store: one per platform, and in it one per ROM. */
export function createArtworkFolders (store: Store) {
  async function listIds (path: string): Promise<number[]> {
    const { folders } = await store.listNames(resourceKey(path))
    // All other folders do not belong to this feature.
    return folders.filter((name) => ID.test(name)).map(Number)
  }

  const remove = (path: string) => deleteFolder(store, resourceKey(path))
  return {
    listPlatforms: () => listIds(ROOT),
    listRoms: (platformId: number) => listIds(`${ROOT}/${platformId}`),
    removePlatform: (platformId: number) => remove(`${ROOT}/${platformId}`),
    remove: (platformId: number, romId: number) => remove(artworkFolder(platformId, romId))
  }
}
