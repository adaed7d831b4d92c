import down from 'lucide/dist/esm/icons/arrow-down-wide-narrow.mjs'
import up from 'lucide/dist/esm/icons/arrow-up-narrow-wide.mjs'
import grid from 'lucide/dist/esm/icons/layout-grid.mjs'
import filterIcon from 'lucide/dist/esm/icons/list-filter.mjs'
import rows from 'lucide/dist/esm/icons/list.mjs'
import search from 'lucide/dist/esm/icons/search.mjs'
import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Segments } from '../../ui/segments.tsx'
import { type ListView, type Order, ORDERS, isOrder, listFilters, withOrder } from './list-query.ts'
import { SIZE_MAX, chooseLook, look } from './look.ts'

interface ToolsProps { view: ListView, onChange: (view: ListView) => void }

const TYPING_MS = 200

/** The search in a list. The address follows when typing pauses. */
function ListSearch ({ view, onChange }: ToolsProps) {
  const { list } = texts()
  const [text, setText] = useState(view.search)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const sent = useRef(view.search)
  const latest = useRef({ view, onChange })
  latest.current = { view, onChange }
  useEffect(() => {
    // Another address, such as that of the way back, changes the field; the echo of this field does not.
    if (view.search !== sent.current) setText(view.search)
    sent.current = view.search
  }, [view.search])
  useEffect(() => () => { clearTimeout(timer.current) }, [])
  function type (value: string): void {
    setText(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      sent.current = value
      // A filter may have changed since the key was pressed.
      latest.current.onChange({ ...latest.current.view, search: value })
    }, TYPING_MS)
  }
  return (
    <div class='input-with list-search'>
      <Icon node={search} />
      <input
        class='input' type='search' aria-label={list.search} placeholder={list.search} value={text}
        onInput={({ currentTarget }) => { type(currentTarget.value) }}
      />
    </div>
  )
}

/** The order of a list with its direction. */
export function OrderTools ({ view, onChange }: ToolsProps) {
  const { list } = texts()
  const { order, isDescending } = view
  return (
    <div class='list-order'>
      <select class='input' aria-label={list.order} value={order} onChange={({ currentTarget }) => { onChange(withOrder(view, currentTarget.value)) }}>
        {(Object.keys(ORDERS) as Order[]).map((name) => <option key={name} value={name}>{list.orders[name]}</option>)}
        {!isOrder(order) && <option value={order}>{list.otherOrder(order)}</option>}
      </select>
      <IconButton
        icon={isDescending ? down : up} label={isDescending ? list.descending : list.ascending}
        onClick={() => { onChange({ ...view, isDescending: !isDescending }) }}
      />
    </div>
  )
}

interface ListToolsProps extends ToolsProps { areFiltersOpen: boolean, onFilters: () => void }

/** Search, order, filters and look of a list. */
export function ListTools ({ view, onChange, areFiltersOpen, onFilters }: ListToolsProps) {
  const { list } = texts()
  const { length: count } = listFilters(view)
  return (
    <div class='list-tools'>
      <ListSearch view={view} onChange={onChange} />
      <Button icon={filterIcon} aria-expanded={areFiltersOpen} onClick={onFilters}>
        <span class='list-filters-label'>{list.filters}</span>{count > 0 && <span class='filter-number'>{count}</span>}
      </Button>
      <OrderTools view={view} onChange={onChange} />
      <Segments
        label={list.view} value={look.value.view} onChange={(chosen) => { chooseLook({ view: chosen }) }}
        options={{ grid: { label: list.views.grid, icon: grid }, list: { label: list.views.list, icon: rows } }}
      />
      <input
        class='list-size' type='range' min={0} max={SIZE_MAX} step={1} aria-label={list.size} title={list.size} value={look.value.size}
        onInput={({ currentTarget }) => { chooseLook({ size: Number(currentTarget.value) }) }}
      />
    </div>
  )
}
