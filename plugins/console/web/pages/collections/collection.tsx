import ghost from 'lucide/dist/esm/icons/ghost.mjs'
import library from 'lucide/dist/esm/icons/library-big.mjs'
import type { Resource } from '../../api/cache.ts'
import { api, call } from '../../api/client.ts'
import { isOwn } from '../../api/collections.ts'
import { type Invalidation, useResource } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Empty, Failed, Skeleton } from '../../ui/state.tsx'
import { GameList } from '../library/game-list.tsx'
import { ALL_GAMES, type ListQuery, readCriteria } from '../library/list-query.ts'
import { type AnyCollection, addressOfCollection, isVirtual } from './collection-card.tsx'
import { CollectionHead } from './collection-head.tsx'

interface CollectionPageProps { resource: Resource<AnyCollection>, scope: ListQuery }

/** A collection of any kind: a list of its ROMs, with everything that lists can do. */
function CollectionPage ({ resource: { data: { value: collection }, failure }, scope }: CollectionPageProps) {
  const { collections: words } = texts()
  // Somebody may delete the collection, or make it private, while its page is open.
  const isGone = failure.value !== null && [404, 422].includes(failure.value.status)
  useTitle(isGone ? words.notFound.title : collection?.name)
  if (isGone) {
    return (
      <Empty icon={ghost} title={words.notFound.title} text={words.notFound.text}>
        <LinkButton href='collections'>{words.notFound.action}</LinkButton>
      </Empty>
    )
  }
  if (collection === undefined) return failure.value === null ? <Skeleton height='70vh' /> : <Failed failure={failure.value} />
  const plain = !isVirtual(collection) && !collection.is_smart && 'url_cover' in collection && isOwn(collection) ? collection : undefined
  return (
    <GameList
      title={collection.name} scope={scope} collection={plain}
      // The way back may lead to another collection: its page has no dialog of this one.
      head={<CollectionHead key={addressOfCollection(collection)} collection={collection} />}
      usual={'filter_criteria' in collection ? readCriteria(collection.filter_criteria) : ALL_GAMES}
      empty={collection.is_smart
        ? <Empty icon={library} title={words.emptySmart.title} text={words.emptySmart.text} />
        : (
          <Empty icon={library} title={words.empty.title} text={words.empty.text}>
            <LinkButton kind='primary' href='roms'>{words.empty.action}</LinkButton>
          </Empty>
          )}
    />
  )
}

const eventsOf = (id: number, kind: 'plain' | 'smart'): Invalidation =>
  ({ 'collections:changed': (changed) => changed.kind === kind && changed.id === id, 'roms:deleted': true, 'permissions:changed': true })

export default function Plain ({ id: text }: { id: string }) {
  const id = Number(text)
  const resource = useResource(`collection ${text}`, (signal) => call(api.GET('/api/collections/{id}', { params: { path: { id } }, signal })),
    eventsOf(id, 'plain'))
  return <CollectionPage resource={resource} scope={{ collection_id: id }} />
}

export function Smart ({ id: text }: { id: string }) {
  const id = Number(text)
  const resource = useResource(`smart-collection ${text}`, (signal) => call(api.GET('/api/collections/smart/{id}', { params: { path: { id } }, signal })),
    { ...eventsOf(id, 'smart'), 'scan:done': true })
  return <CollectionPage resource={resource} scope={{ smart_collection_id: id }} />
}

export function Virtual ({ id }: { id: string }) {
  const resource = useResource(`virtual-collection ${id}`, (signal) => call(api.GET('/api/collections/virtual/{id}', {
    params: { path: { id }, query: { with_rom_ids: false } }, signal
  })), { 'scan:done': true, 'permissions:changed': true })
  return <CollectionPage resource={resource} scope={{ virtual_collection_id: id }} />
}
