import library from 'lucide/dist/esm/icons/library-big.mjs'
import plus from 'lucide/dist/esm/icons/plus.mjs'
import search from 'lucide/dist/esm/icons/search.mjs'
import sparkles from 'lucide/dist/esm/icons/sparkles.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Collection, type SmartCollection, isOwn, useCollections, useSmartCollections } from '../../api/collections.ts'
import { useResource } from '../../api/resource.ts'
import { holds } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle, useView } from '../../navigate.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Loaded, Notice, Skeleton } from '../../ui/state.tsx'
import { type AnyCollection, CollectionCard } from './collection-card.tsx'
import { FormDialog } from './form-dialog.tsx'
import { SmartDialog } from '../library/smart-dialog.tsx'
import { COLLECTION_ORDERS, type CollectionOrder, sortCollections } from '../../api/sort-collections.ts'

const TYPES = ['genre', 'franchise', 'collection', 'mode', 'company'] as const
type VirtualType = typeof TYPES[number]
const VIRTUAL_MAX = 200

const isOrder = (text: string | undefined): text is CollectionOrder => COLLECTION_ORDERS.some((order) => order === text)
const isType = (text: string | undefined): text is VirtualType => TYPES.some((type) => type === text)

const Waiting = () => <div class='collection-grid'>{[1, 2, 3, 4].map((key) => <Skeleton key={key} height='13rem' />)}</div>

function Group ({ title, all }: { title: string, all: readonly AnyCollection[] }) {
  if (all.length === 0) return null
  return (
    <section class='collection-group'>
      <h2>{title}</h2>
      <div class='collection-grid'>{all.map((one) => <CollectionCard key={one.id} collection={one} />)}</div>
    </section>
  )
}

/** Loads the collections of one type that the server finds: what three or more ROMs have in common. */
const useFound = (type: VirtualType) => useResource(`virtual-collections ${type}`, (signal) => call(api.GET('/api/collections/virtual', {
  params: { query: { type, limit: VIRTUAL_MAX, with_rom_ids: false } }, signal
})), { 'scan:done': true, 'permissions:changed': true })

interface FoundProps { type: VirtualType, found: ReturnType<typeof useFound>, order: CollectionOrder, text: string }

function Found ({ type, found, order, text }: FoundProps) {
  const { collections: words } = texts()
  const { query, path, go } = useView()
  return (
    <section class='collection-group'>
      <div class='collection-group-head'>
        <h2>{words.virtual}</h2>
        <select
          class='input' aria-label={words.type} value={type}
          onChange={({ currentTarget }) => { go(`${path}?${new URLSearchParams({ ...query, type: currentTarget.value })}`, true) }}
        >
          {TYPES.map((one) => <option key={one} value={one}>{words.types[one]}</option>)}
        </select>
      </div>
      <Loaded resource={found} skeleton={<Waiting />}>
        {(all) => all.length === 0
          ? <p class='soft'>{words.noVirtual}</p>
          : <div class='collection-grid'>{sortCollections(all, order, text).map((one) => <CollectionCard key={one.id} collection={one} />)}</div>}
      </Loaded>
    </section>
  )
}

interface OwnProps {
  plain: ReturnType<typeof useCollections>
  smart: ReturnType<typeof useSmartCollections>
  order: CollectionOrder
  text: string
}

/** Collections that people made: the account's own, smart ones, and those of others. */
function Own ({ plain, smart, order, text }: OwnProps) {
  const { collections: words } = texts()
  const { data: { value: all }, failure: { value: failure } } = plain
  const { data: { value: smarts }, failure: { value: smartFailure } } = smart
  const problem = all === undefined ? failure : smarts === undefined ? smartFailure : null
  if (problem !== null) return <Notice kind='failure'>{problem.message}</Notice>
  const both: readonly (Collection | SmartCollection)[] = [...all ?? [], ...smarts ?? []]
  if (both.length === 0) {
    const { none } = words
    return <div class='hint'><Icon node={library} /><p><strong>{none.title}</strong><br />{none.text}</p></div>
  }
  const sort = (some: readonly (Collection | SmartCollection)[]) => sortCollections(some, order, text)
  const [mine, clever] = [sort((all ?? []).filter(isOwn)), sort((smarts ?? []).filter(isOwn))]
  const shared = sort(both.filter((one) => !isOwn(one)))
  if (mine.length + clever.length + shared.length === 0) return <p class='soft' role='status'>{words.noMatch}</p>
  return (
    <>
      <Group title={words.mine} all={mine} />
      <Group title={words.smart} all={clever} />
      <Group title={words.shared} all={shared} />
    </>
  )
}

/** All collections: the account's own, smart ones, those of others, and those that the server finds. */
export default function Collections () {
  const { collections: words } = texts()
  useTitle(words.title)
  const { query, path, go } = useView()
  const [text, setText] = useState(query.find ?? '')
  const [dialog, setDialog] = useState<'plain' | 'smart' | null>(null)
  const plain = useCollections()
  const smart = useSmartCollections()
  const type = isType(query.type) ? query.type : 'genre'
  const found = useFound(type)
  const order = isOrder(query.order) ? query.order : 'name'
  const mayCreate = holds('collections.write')
  // Everything below appears at once, because a part that comes later would move the others.
  const isWaiting = [plain, smart].some(({ data, failure }) => data.value === undefined && failure.value === null)
  // Nobody needs to search or order nothing.
  const isNone = plain.data.value?.length === 0 && smart.data.value?.length === 0
  const create = mayCreate && (
    <>
      <Button icon={sparkles} onClick={() => { setDialog('smart') }}>{words.newSmart}</Button>
      <Button kind='primary' icon={plus} onClick={() => { setDialog('plain') }}>{words.new}</Button>
    </>
  )
  const close = () => { setDialog(null) }
  return (
    <div class='collections'>
      <div class='page-head'><h1>{words.title}</h1><div class='page-tools'>{create}</div></div>
      <div class='list-tools' hidden={isNone}>
        <div class='input-with list-search'>
          <Icon node={search} />
          <input
            class='input' type='search' aria-label={words.find} placeholder={words.find} value={text}
            onInput={({ currentTarget }) => { setText(currentTarget.value) }}
          />
        </div>
        <select
          class='input collections-order' aria-label={words.order} value={order}
          onChange={({ currentTarget }) => { go(`${path}?${new URLSearchParams({ ...query, order: currentTarget.value })}`, true) }}
        >
          {COLLECTION_ORDERS.map((one) => <option key={one} value={one}>{words.orders[one]}</option>)}
        </select>
      </div>
      {isWaiting
        ? <Waiting />
        : (
          <>
            <Own plain={plain} smart={smart} order={order} text={text} />
            <Found type={type} found={found} order={order} text={text} />
          </>
          )}
      {dialog === 'plain' && <FormDialog onClose={close} />}
      {dialog === 'smart' && <SmartDialog onClose={close} />}
    </div>
  )
}
