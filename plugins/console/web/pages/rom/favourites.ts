import { api, call } from '../../api/client.ts'
import { cache, useResource } from '../../api/resource.ts'
import { accountOf } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'

const KEY = 'collections'

/** The person's collection of favourites; null if they have none yet, undefined while it loads. */
function useFavourites () {
  const { data: { value: all } } = useResource(KEY, (signal) => call(api.GET('/api/collections', { signal })), { 'collections:changed': true })
  const own = accountOf()?.id
  return all === undefined ? undefined : all.find((one) => one.is_favorite && one.user_id === own) ?? null
}

/** Returns if a ROM is a favourite, and a function that changes that. The first favourite creates the collection. */
export function useFavourite (romId: number) {
  const favourites = useFavourites()
  const isFavourite = favourites?.rom_ids.includes(romId) ?? false

  async function toggle (): Promise<void> {
    const collection = favourites ?? await call(api.POST('/api/collections', {
      params: { query: { is_favorite: true } }, body: { name: texts().rom.favouritesName },
      bodySerializer: (fields) => new URLSearchParams({ name: String(fields.name) }),
      headers: { 'content-type': 'application/x-www-form-urlencoded' }
    }))
    const request = { params: { path: { id: collection.id } }, body: { rom_ids: [romId] } }
    await call(isFavourite ? api.DELETE('/api/collections/{id}/roms', request) : api.POST('/api/collections/{id}/roms', request))
    await cache.reload(KEY)
  }

  return { isFavourite, isReady: favourites !== undefined, toggle }
}
