import heart from 'lucide/dist/esm/icons/heart.mjs'
import library from 'lucide/dist/esm/icons/library-big.mjs'
import play from 'lucide/dist/esm/icons/play.mjs'
import type { IconNode } from 'lucide'
import type { ComponentChildren } from 'preact'
import { api, call } from '../../api/client.ts'
import { useCollections, useFavoriteIds, useSmartCollections } from '../../api/collections.ts'
import type { Resource } from '../../api/cache.ts'
import { type Invalidation, cache, useResource } from '../../api/resource.ts'
import { accountOf, holds, isGuest } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Game } from '../../ui/game.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Shelf } from '../../ui/shelf.tsx'
import { Failed, Skeleton } from '../../ui/state.tsx'
import { CollectionCard } from '../collections/collection-card.tsx'
import { sortCollections } from '../../api/sort-collections.ts'
import { LIST_EVENTS, NO_EXTRAS } from '../library/game-pages.ts'
import type { ListQuery } from '../library/list-query.ts'
import { EmptyLibrary } from '../upload/empty-library.tsx'
import { Playing, useActivity } from './playing.tsx'
import { Surprise } from './surprise.tsx'

const SHOWN = 20
const ROWS = {
  recent: { order_by: 'created_at', order_dir: 'desc' },
  continue: { last_played: true, order_by: 'last_played', order_dir: 'desc' },
  favorites: { favorite: true, order_by: 'name' }
} as const satisfies Record<string, ListQuery>
const EVENTS: Invalidation = { ...LIST_EVENTS, 'collections:changed': true }

const useRow = (name: keyof typeof ROWS) => useResource(`home ${name}`, async (signal) => (await call(api.GET('/api/roms', {
  params: { query: { ...ROWS[name], ...NO_EXTRAS, limit: SHOWN } }, signal
}))).items, EVENTS)

interface HintProps { title: string, icon: IconNode, text: string, children?: ComponentChildren }

/** A row that has nothing to show yet, and says how that changes. */
const Hint = ({ title, icon, text, children }: HintProps) => (
  <section>
    <div class='shelf-head'><h2>{title}</h2></div>
    <div class='hint'><Icon node={icon} /><p>{text}</p>{children}</div>
  </section>
)

const Waiting = ({ title }: { title: string }) => (
  <section>
    <div class='shelf-head'><h2>{title}</h2></div>
    <div class='shelf' aria-hidden>
      {Array.from({ length: 8 }, (_, key) => (
        <div key={key} class='game'><span class='cover skeleton' /><Skeleton height='2.2rem' /></div>
      ))}
    </div>
  </section>
)

interface RowProps { name: keyof typeof ROWS, title: string, href: string, empty: ComponentChildren }

/** A row of games from one question to the library. */
function Row ({ name, title, href, empty }: RowProps) {
  const { home } = texts()
  const favorites = useFavoriteIds()
  const { data: { value: items }, failure } = useRow(name)
  if (failure.value !== null && items === undefined) return <Failed failure={failure.value} />
  if (items === undefined) return <Waiting title={title} />
  if (items.length === 0) return <>{empty}</>
  return (
    <Shelf title={title} more={<a href={href} aria-label={`${home.all}: ${title}`}>{home.all}</a>}>
      {items.map((rom) => <Game key={rom.id} rom={rom} isFavorite={favorites.has(rom.id)} />)}
    </Shelf>
  )
}

function CollectionRow () {
  const { home } = texts()
  const resources = [useCollections(), useSmartCollections()] as const
  const [plain, smart] = [resources[0].data.value, resources[1].data.value]
  const failure = resources.map((one) => one.failure.value).find((one) => one !== null)
  if ((plain === undefined || smart === undefined) && failure != null) return <Failed failure={failure} />
  if (plain === undefined || smart === undefined) return <Waiting title={home.collections} />
  const all = sortCollections([...plain, ...smart].filter(({ is_favorite: isFavorite }) => !isFavorite), 'updated').slice(0, SHOWN)
  if (all.length === 0) {
    return (
      <Hint title={home.collections} icon={library} text={home.noCollections}>
        {holds('collections.write') && <LinkButton isSmall href='collections'>{home.newCollection}</LinkButton>}
      </Hint>
    )
  }
  return (
    <Shelf title={home.collections} isWide more={<a href='collections' aria-label={`${home.all}: ${home.collections}`}>{home.all}</a>}>
      {all.map((one) => <CollectionCard key={`${one.is_smart} ${one.id}`} collection={one} />)}
    </Shelf>
  )
}

/** True until a resource has data or a failure. */
const isPending = ({ data, failure }: Pick<Resource<unknown>, 'data' | 'failure'>): boolean =>
  data.value === undefined && failure.value === null

const RecentRow = () => <Row name='recent' title={texts().home.recent} href='roms?order=created_at' empty={null} />

/**
 * The rows of a person with an account. A row appears when those above it have their height, so that none moves. New
 * games come first for a person who played none yet.
 */
function PersonalRows () {
  const { home } = texts()
  const [played, favorites] = [useRow('continue'), useRow('favorites')]
  const toLibrary = <LinkButton isSmall href='roms'>{home.openLibrary}</LinkButton>
  if (isPending(played)) return <Waiting title={home.continue} />
  const isFirst = played.data.value?.length !== 0
  const playedRow = (
    <Row
      name='continue' title={home.continue} href='roms?last_played=true&order=last_played'
      empty={<Hint title={home.continue} icon={play} text={home.noContinue}>{toLibrary}</Hint>}
    />
  )
  return (
    <>
      {isFirst && playedRow}
      <RecentRow />
      {!isFirst && playedRow}
      <Row
        name='favorites' title={home.favorites} href='roms?favorite=true'
        empty={<Hint title={home.favorites} icon={heart} text={home.noFavorites}>{toLibrary}</Hint>}
      />
      {!isPending(favorites) && <CollectionRow />}
    </>
  )
}

/** The start page: where a person goes on, and what is new. */
export default function Home () {
  const { home } = texts()
  useTitle(home.title)
  const recent = useRow('recent')
  const activity = useActivity()
  const account = accountOf()
  const isEmpty = recent.data.value?.length === 0
  const isPerson = account !== null && !isGuest(account)
  const title = isPerson ? home.greeting(account.username) : home.title
  const { failure: { value: failure } } = recent
  if (failure !== null && recent.data.value === undefined) {
    return <Failed failure={failure} onRetry={() => { cache.invalidateAll() }} />
  }
  if (isEmpty) {
    return (
      <div class='home'>
        <h1>{title}</h1>
        <EmptyLibrary />
      </div>
    )
  }
  const rows = isPerson ? <PersonalRows /> : <><RecentRow /><CollectionRow /></>
  return (
    <div class='home'>
      <div class='page-head'><h1>{title}</h1><Surprise /></div>
      {isPending(activity)
        ? <Waiting title={isPerson ? home.continue : home.recent} />
        : <><Playing activity={activity} />{rows}</>}
    </div>
  )
}
