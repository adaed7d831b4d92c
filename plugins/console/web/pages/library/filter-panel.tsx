import check from 'lucide/dist/esm/icons/check.mjs'
import minus from 'lucide/dist/esm/icons/minus.mjs'
import { api, call } from '../../api/client.ts'
import { usePlatforms } from '../../api/platforms.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { isAdministrator } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { Check, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { providerName } from '../rom/provider-names.ts'
import { type FilterOption, FilterValues } from './filter-values.tsx'
import { LIST_EVENTS, NO_EXTRAS } from './game-pages.ts'
import {
  DUMPS, FLAGS, type Flag, LISTS, type ListFilter, type ListQuery, type ListView, dayOf, isFiltered, logicsOf, startOf,
  withFlag, withIds, withValues
} from './list-query.ts'

const STATUSES = ['now_playing', 'backlogged', 'incomplete', 'finished', 'completed_100', 'retired', 'never_playing', 'hidden'] as const
const PROVIDERS = ['igdb', 'ss', 'moby', 'launchbox', 'ra', 'hasheous', 'tgdb', 'flashpoint', 'hltb', 'gamelist', 'libretro'] as const

type Values = components['schemas']['RomFilters']

/** Returns the text of a filter's value. */
export function labelOf (name: string, value: string): string {
  const { list } = texts()
  if (name === 'statuses') return STATUSES.flatMap((status) => status === value ? [list.statuses[status]] : [])[0] ?? value
  if (name === 'dump_statuses') return DUMPS.flatMap((dump) => dump === value ? [list.dumps[dump]] : [])[0] ?? value
  return name === 'metadata_providers' ? providerName(value) : value
}

/** Lists the values that a filter offers. */
function valuesOf (name: ListFilter, known: Values | undefined): readonly string[] {
  if (name === 'statuses') return STATUSES
  if (name === 'dump_statuses') return DUMPS
  if (name === 'metadata_providers') return PROVIDERS
  return known?.[name] ?? []
}

export const useLibraries = () =>
  useResource('libraries', async (signal) => isAdministrator() ? await call(api.GET('/api/libraries', { signal })) : [])

interface FlagChipProps { name: Flag, value: boolean | undefined, onChange: (value: boolean | null) => void }

/** A filter that a press turns from any to only, then to without, then to any again. */
function FlagChip ({ name, value, onChange }: FlagChipProps) {
  const { list: { flags: { [name]: words } } } = texts()
  const state = value === undefined ? 'any' : value ? 'yes' : 'no'
  return (
    <button
      type='button' class='flag-chip' data-state={state} aria-pressed={state !== 'any'}
      onClick={() => { onChange(value === undefined ? true : value ? false : null) }}
    >
      {state !== 'any' && <Icon node={state === 'yes' ? check : minus} />}{state === 'no' ? words.no : words.yes}
    </button>
  )
}

interface FilterPanelProps {
  view: ListView
  onChange: (view: ListView) => void
  /** The part of the library that is filtered, such as a platform. */
  scope: ListQuery
}

/** All filters of a list. */
export function FilterPanel ({ view, onChange, scope }: FilterPanelProps) {
  const { list } = texts()
  const { number } = format()
  const known = useResource(`filters ${JSON.stringify(scope)}`, (signal) => call(api.GET('/api/roms', {
    params: { query: { ...scope, ...NO_EXTRAS, limit: 1, with_filter_values: true, with_filter_counts: true } }, signal
  })), { 'scan:done': LIST_EVENTS['scan:done'] ?? true }).data.value
  // The counts are those of the whole scope, so they would be wrong beside other filters.
  const counts = isFiltered(view) ? undefined : known?.filter_counts
  const noteOf = (name: ListFilter, value: string) => {
    const count = counts?.[name]?.[value]
    return count === undefined ? undefined : number(count)
  }
  const { data: { value: platforms = [] } } = usePlatforms()
  const { data: { value: libraries = [] } } = useLibraries()
  const platformOptions: FilterOption[] = platforms.filter(({ rom_count: count }) => count > 0)
    .map(({ id, display_name: label, rom_count: count }) => ({ value: String(id), label, note: number(count) }))
  const libraryOptions = libraries.map(({ id, name }) => ({ value: String(id), label: name }))
  const idFilter = (name: 'platform_ids' | 'library_ids', options: readonly FilterOption[]) => (
    <FilterValues
      title={list.lists[name]} options={options} values={(view.ids[name] ?? []).map(String)} logics={['any']} logic='any'
      onChange={(values) => { onChange(withIds(view, name, values.map(Number))) }}
    />
  )
  return (
    <div class='filter-panel'>
      <fieldset class='filter-flags'>
        <legend>{list.showOnly}</legend>
        {FLAGS.map((name) => (
          <FlagChip
            key={name} name={name} value={view.flags[name]}
            onChange={(value) => { onChange(withFlag(view, name, value)) }}
          />
        ))}
      </fieldset>
      {scope.platform_ids === undefined && idFilter('platform_ids', platformOptions)}
      {libraryOptions.length > 1 && idFilter('library_ids', libraryOptions)}
      {LISTS.map((name) => (
        <FilterValues
          key={name} title={list.lists[name]}
          options={valuesOf(name, known?.filter_values)
            .map((value) => ({ value, label: labelOf(name, value), note: noteOf(name, value) }))}
          values={view.lists[name]?.values ?? []} logics={logicsOf(name)} logic={view.lists[name]?.logic ?? 'any'}
          onChange={(values, logic) => { onChange(withValues(view, name, values, logic)) }}
        />
      ))}
      <div class='filter-rest'>
        <TextField
          label={list.changedAfter} type='date' value={dayOf(view.changedAfter)}
          onInput={(day) => { onChange({ ...view, changedAfter: startOf(day) }) }}
        />
        <Check
          label={list.grouped} isChecked={view.isGrouped} onChange={(isGrouped) => { onChange({ ...view, isGrouped }) }}
        />
      </div>
    </div>
  )
}
