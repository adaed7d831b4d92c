import heart from 'lucide/dist/esm/icons/heart.mjs'
import type { Collection, SmartCollection, VirtualCollection } from '../../api/collections.ts'
import { isOwn } from '../../api/collections.ts'
import { texts } from '../../i18n/language.ts'
import { Icon } from '../../ui/icon.tsx'
import { Badge } from '../../ui/state.tsx'
import { Mosaic } from './mosaic.tsx'

export type AnyCollection = Collection | SmartCollection | VirtualCollection

export const isVirtual = (one: AnyCollection): one is VirtualCollection => one.is_virtual

/** Returns the address of a collection's page, relative to the start page. */
export function addressOfCollection (one: AnyCollection): string {
  const kind = one.is_virtual ? 'virtual/' : one.is_smart ? 'smart/' : ''
  return `collections/${kind}${encodeURIComponent(String(one.id))}`
}

/** A collection with its picture, as a link to its page. */
export function CollectionCard ({ collection }: { collection: AnyCollection }) {
  const { common, collections: words } = texts()
  const { name, rom_count: count, is_public: isPublic, is_smart: isSmart, is_favorite: isFavorite } = collection
  const isForeign = !isVirtual(collection) && !isOwn(collection)
  return (
    <a class='collection-card' href={addressOfCollection(collection)}>
      <Mosaic collection={collection} />
      <span class='collection-name'>{name}</span>
      <span class='collection-facts'>
        <span class='number'>{common.games(count)}</span>
        {isForeign && <span>{words.by(collection.owner_username)}</span>}
        {isFavorite && <Badge kind='accent'><Icon node={heart} label={words.isFavorite} /></Badge>}
        {isSmart && <Badge>{words.isSmart}</Badge>}
        {isPublic && !isForeign && !isVirtual(collection) && <Badge>{words.isPublic}</Badge>}
      </span>
    </a>
  )
}
