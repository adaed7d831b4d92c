import x from 'lucide/dist/esm/icons/x.mjs'
import { usePlatforms } from '../../api/platforms.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { labelOf, useLibraries } from './filter-panel.tsx'
import { type ActiveFilter, FLAGS, LISTS, type ListView, listFilters, withoutFilters } from './list-query.ts'

/** Returns a function that describes a filter in words. */
function useDescriptions (): (filter: ActiveFilter) => string {
  const { list } = texts()
  const { data: { value: platforms = [] } } = usePlatforms()
  const { data: { value: libraries = [] } } = useLibraries()
  return ({ name, value, logic }) => {
    const flag = FLAGS.find((one) => one === name)
    if (flag !== undefined) return value === true ? list.flags[flag].yes : list.flags[flag].no
    if (name === 'updated_after') return `${list.changedAfter} ${format().date(String(value))}`
    if (name === 'group_by_meta_id') return list.grouped
    if (name === 'platform_ids') return platforms.find(({ id }) => id === value)?.display_name ?? `${list.lists.platform_ids} ${value}`
    if (name === 'library_ids') return libraries.find(({ id }) => id === value)?.name ?? `${list.lists.library_ids} ${value}`
    const kind = LISTS.find((one) => one === name)
    const label = labelOf(name, String(value))
    return `${kind === undefined ? name : list.lists[kind]}: ${logic === 'none' ? list.not(label) : label}`
  }
}

/** The filters of a list, each of which can be removed. */
export function Chips ({ view, onChange }: { view: ListView, onChange: (view: ListView) => void }) {
  const { list } = texts()
  const describe = useDescriptions()
  const filters = listFilters(view)
  if (filters.length === 0) return null
  return (
    <ul class='chips' aria-label={list.filters}>
      {filters.map((filter) => {
        const text = describe(filter)
        return (
          <li key={`${filter.name} ${filter.value}`}>
            <button type='button' class='chip' aria-label={list.removeFilter(text)} onClick={() => { onChange(filter.without) }}>
              {text}<Icon node={x} />
            </button>
          </li>
        )
      })}
      {filters.length > 1 && <li><Button kind='quiet' isSmall onClick={() => { onChange(withoutFilters(view)) }}>{list.clear}</Button></li>}
    </ul>
  )
}
