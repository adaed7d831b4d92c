import { MEDIA_KINDS } from '@svc/plugin-sdk'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { notFound } from '../../core/errors.ts'
import { openIfPresent } from '../../core/store/open-object.ts'
import type { Store, StoredObject } from '../../core/store/store.ts'
import type { Secrets } from '../../core/access/secrets.ts'
import { resourcesConfig } from './config.ts'
import { type Addresses, createAddresses, readPath } from './addresses.ts'
import { BADGE_FOLDER } from './badges.ts'
import { mediaTypeOf } from './media-types.ts'
import { resourceKey } from './resource-key.ts'

const MEDIA_FOLDERS = ['cover', 'screenshots', 'manual', 'soundtracks', BADGE_FOLDER, ...MEDIA_KINDS]
const NAME = '[^/.][^/]*'
const ROM_PATH = new RegExp(`^roms/\\d+/(?<rom>\\d{1,10})/(?:${MEDIA_FOLDERS.join('|')})/${NAME}$`, 's')
const COLLECTION_PATH = new RegExp(`^collections/(?<collection>\\d{1,10})/cover/${NAME}$`, 's')
/** Paths in the folder that are served here. Files that belong to users have their own routes. */
const SERVED_PATHS = [
  ROM_PATH,
  new RegExp(`^platforms/(?:${NAME}/)?${NAME}$`, 's'),
  COLLECTION_PATH
]

/** A file named by an address. */
export interface Resource {
  /** Relative to the resources folder. */
  path: string
  type: string
  /** True if the address alone grants access. */
  isOpen: boolean
}

/** Checks if a caller may see the ROM or collection with this id, which comes from an address. */
type IsVisible = (context: Context, id: string) => Promise<boolean>

export function createResources (config: Config, secrets: Secrets, store: Store) {
  const isPublic = resourcesConfig.of(config).public
  const plain = createAddresses(null)
  let isRomVisible: IsVisible = async () => false
  let isCollectionVisible: IsVisible = async () => false

  return {
    /** Addresses for callers who may see the files. They grant access without a credential. */
    marked: isPublic ? plain : createAddresses(secrets),

    /** Addresses for everybody. They grant access only with a credential. */
    plain: plain satisfies Addresses,

    /**
     * Returns the resource for an address below the prefix.
     *
     * @throws ApiError NOT_FOUND if no such resource is served.
     */
    find (address: string): Resource {
      const { path, isMarked } = readPath(secrets, address)
      const type = mediaTypeOf(path)
      if (type === null || !SERVED_PATHS.some((pattern) => pattern.test(path))) throw notFound('Resource not found')
      return { path, type, isOpen: isPublic || isMarked }
    },

    /** Sets the check for ROMs. Until then only administrators see the files of ROMs. */
    guardRoms (check: IsVisible): void { isRomVisible = check },

    /** Sets the check for collections. Until then nobody sees the files of collections. */
    guardCollections (check: IsVisible): void { isCollectionVisible = check },

    /** @throws ApiError NOT_FOUND unless the caller may see the object to which the file belongs. */
    async checkVisible (context: Context, { path }: Resource): Promise<void> {
      const { caller } = context
      const collectionId = COLLECTION_PATH.exec(path)?.groups?.collection
      if (collectionId !== undefined) {
        if (await isCollectionVisible(context, collectionId)) return
        throw notFound('Resource not found')
      }
      if (caller.access.is_admin) return
      const romId = ROM_PATH.exec(path)?.groups?.rom
      if (romId === undefined || !await isRomVisible(context, romId)) throw notFound('Resource not found')
    },

    /**
     * Opens a picture, film or document; the caller closes it.
     *
     * @throws ApiError NOT_FOUND if it does not exist, UNAVAILABLE
     */
    async open ({ path }: Resource): Promise<StoredObject> {
      const object = await openIfPresent(store, resourceKey(path))
      if (object === null) throw notFound('Resource not found')
      return object
    }
  }
}
