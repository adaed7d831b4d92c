import type { paths } from '../../api/schema.d.ts'

export type ListQuery = NonNullable<paths['/api/roms']['get']['parameters']['query']>

/** Filters that are true, false or not used. */
export const FLAGS = [
  'favorite', 'last_played', 'matched', 'verified', 'duplicate', 'missing', 'playable', 'has_saves', 'has_states', 'has_ra', 'has_soundtrack'
] as const
export type Flag = typeof FLAGS[number]

/** Filters with several values, of which any, all or none must fit. */
export const LISTS = [
  'statuses', 'genres', 'franchises', 'collections', 'companies', 'age_ratings', 'player_counts', 'regions', 'languages', 'tags',
  'metadata_providers', 'dump_statuses'
] as const
export type ListFilter = typeof LISTS[number]
type FreeFilter = Exclude<ListFilter, 'dump_statuses'>
export const LOGICS = ['any', 'all', 'none'] as const
export type Logic = typeof LOGICS[number]
/** Filters of which a ROM has only one value, so that "all" would be senseless; dump statuses know no logic. */
const LOGICS_OF: Partial<Record<ListFilter, readonly Logic[]>> = { player_counts: ['any', 'none'], dump_statuses: ['any'] }
export const logicsOf = (name: ListFilter): readonly Logic[] => LOGICS_OF[name] ?? LOGICS

/** Filters by ids. */
export const ID_LISTS = ['platform_ids', 'library_ids'] as const
export type IdList = typeof ID_LISTS[number]

/** Results of the comparison with DAT files. The server refuses any other. */
export const DUMPS = ['verified', 'misnamed', 'bad', 'unknown'] as const
type Dump = typeof DUMPS[number]
const isDump = (text: string): text is Dump => DUMPS.some((dump) => dump === text)

export interface Values { readonly values: readonly string[], readonly logic: Logic }

/** The orders that the list offers; true for those whose largest value people expect first. */
export const ORDERS = {
  name: false,
  created_at: true,
  updated_at: true,
  first_release_date: false,
  average_rating: true,
  fs_size_bytes: true,
  fs_name: false,
  player_count: true,
  'hltb_metadata.main_story': false,
  last_played: true,
  rating: true,
  difficulty: false,
  completion: true,
  status: false
} as const
export type Order = keyof typeof ORDERS
/** Orders by marks of the person. The server lists only games that have any marks of the person then. */
const MARK_ORDERS = new Set(['last_played', 'rating', 'difficulty', 'completion', 'status', 'backlogged', 'now_playing', 'hidden', 'is_main_sibling'])
export const isMarkOrder = (name: string): boolean => MARK_ORDERS.has(name)
export const isOrder = (name: string): name is Order => Object.hasOwn(ORDERS, name)

/** What the address of a list, or a smart collection, says: search, filters and order. */
export interface ListView {
  readonly search: string
  /** One of `ORDERS`, or any other column that the address names. */
  readonly order: string
  readonly isDescending: boolean
  readonly flags: Readonly<Partial<Record<Flag, boolean>>>
  readonly lists: Readonly<Partial<Record<ListFilter, Values>>>
  readonly ids: Readonly<Partial<Record<IdList, readonly number[]>>>
  /** ROMs that changed after this time; empty for all. */
  readonly changedAfter: string
  /** True to list one ROM of each group of versions. */
  readonly isGrouped: boolean
}

export const ALL_GAMES: ListView = { search: '', order: 'name', isDescending: false, flags: {}, lists: {}, ids: {}, changedAfter: '', isGrouped: false }

const isDescendingByDefault = (order: string): boolean => isOrder(order) && ORDERS[order]
const isLogic = (text: string | undefined): text is Logic => LOGICS.some((logic) => logic === text)
/** The order of a list whose address names none. */
export type UsualOrder = Pick<ListView, 'order' | 'isDescending'>
const directionOf = (order: string, usual: UsualOrder): boolean =>
  order === usual.order ? usual.isDescending : isDescendingByDefault(order)
const isColumn = (text: string | undefined): text is string => text !== undefined && /^\w+(\.\w+)?$/.test(text)
const readTime = (text: string): string => Number.isNaN(Date.parse(text)) ? '' : text

/** Reads a view from named texts. Unknown names and values do not narrow the list. */
function readTexts (textsOf: (name: string) => readonly string[], usual: UsualOrder): ListView {
  const first = (...names: string[]): string | undefined => names.flatMap(textsOf)[0]
  const flags: Partial<Record<Flag, boolean>> = {}
  for (const name of FLAGS) {
    const text = first(name)
    if (text === 'true' || text === 'false') flags[name] = text === 'true'
  }
  const lists: Partial<Record<ListFilter, Values>> = {}
  for (const name of LISTS) {
    const values = [...new Set(textsOf(name))].filter((value) => name === 'dump_statuses' ? isDump(value) : value !== '')
    const logic = first(`${name}_logic`)
    if (values.length > 0) lists[name] = { values, logic: isLogic(logic) && logicsOf(name).includes(logic) ? logic : 'any' }
  }
  const ids: Partial<Record<IdList, number[]>> = {}
  for (const name of ID_LISTS) {
    const numbers = textsOf(name).map(Number).filter((id) => Number.isSafeInteger(id) && id > 0)
    if (numbers.length > 0) ids[name] = [...new Set(numbers)]
  }
  const named = first('order', 'order_by')
  const order = isColumn(named) ? named : usual.order
  const direction = first('dir', 'order_dir')
  return {
    search: first('search', 'search_term') ?? '',
    order,
    isDescending: direction === undefined || direction === '' ? directionOf(order, usual) : direction === 'desc',
    flags,
    lists,
    ids,
    changedAfter: readTime(first('updated_after') ?? ''),
    isGrouped: first('group_by_meta_id') === 'true'
  }
}

/** Reads the view that an address describes. */
export const readListView = (params: URLSearchParams, usual: UsualOrder = ALL_GAMES): ListView =>
  readTexts((name) => params.getAll(name), usual)

const isPlain = (value: unknown): value is string | number | boolean => ['string', 'number', 'boolean'].includes(typeof value)

/** Reads the view that a smart collection stores. */
export const readCriteria = (criteria: Readonly<Record<string, unknown>>): ListView => readTexts((name) => {
  const value = criteria[name]
  return (Array.isArray(value) ? value : [value]).filter(isPlain).map(String)
}, ALL_GAMES)

/** Returns the query of an address, which begins with `?`; what is as usual is left out. */
export function writeListView (view: ListView, usual: UsualOrder = ALL_GAMES): string {
  const query = new URLSearchParams()
  if (view.search !== '') query.append('search', view.search)
  for (const name of ID_LISTS) for (const id of view.ids[name] ?? []) query.append(name, String(id))
  for (const name of FLAGS) if (view.flags[name] !== undefined) query.append(name, String(view.flags[name]))
  for (const name of LISTS) {
    const { values = [], logic = 'any' } = view.lists[name] ?? {}
    for (const value of values) query.append(name, value)
    if (values.length > 0 && logic !== 'any') query.append(`${name}_logic`, logic)
  }
  if (view.changedAfter !== '') query.append('updated_after', view.changedAfter)
  if (view.isGrouped) query.append('group_by_meta_id', 'true')
  if (view.order !== usual.order) query.append('order', view.order)
  if (view.isDescending !== directionOf(view.order, usual)) query.append('dir', view.isDescending ? 'desc' : 'asc')
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** Returns the query of a request for a list. Its names are also those of a smart collection. */
export function toListQuery (view: ListView): ListQuery {
  const { search, order, isDescending, flags, lists, ids, changedAfter, isGrouped } = view
  const values: Partial<Record<FreeFilter, string[]>> = {}
  const logics: Partial<Record<`${FreeFilter}_logic`, Logic>> = {}
  for (const name of LISTS) {
    const list = lists[name]
    if (list === undefined || name === 'dump_statuses') continue
    values[name] = [...list.values]
    if (list.logic !== 'any') logics[`${name}_logic`] = list.logic
  }
  const dumps = lists.dump_statuses?.values.filter(isDump) ?? []
  const chosen: Partial<Record<IdList, number[]>> = {}
  for (const name of ID_LISTS) if (ids[name] !== undefined) chosen[name] = [...ids[name]]
  return {
    ...(search === '' ? {} : { search_term: search }),
    ...flags,
    ...values,
    ...logics,
    ...(dumps.length === 0 ? {} : { dump_statuses: dumps }),
    ...chosen,
    ...(changedAfter === '' ? {} : { updated_after: changedAfter }),
    ...(isGrouped ? { group_by_meta_id: true } : {}),
    order_by: order,
    order_dir: isDescending ? 'desc' : 'asc'
  }
}

/** Returns the view in another order, in the direction that people expect first. */
export const withOrder = (view: ListView, order: string): ListView =>
  ({ ...view, order, isDescending: isDescendingByDefault(order) })

export function withFlag (view: ListView, name: Flag, value: boolean | null): ListView {
  const { [name]: _former, ...others } = view.flags
  return { ...view, flags: value === null ? others : { ...others, [name]: value } }
}

export function withValues (
  view: ListView, name: ListFilter, values: readonly string[], logic: Logic = view.lists[name]?.logic ?? 'any'
): ListView {
  const { [name]: _former, ...others } = view.lists
  return { ...view, lists: values.length === 0 ? others : { ...others, [name]: { values, logic } } }
}

export function withIds (view: ListView, name: IdList, ids: readonly number[]): ListView {
  const { [name]: _former, ...others } = view.ids
  return { ...view, ids: ids.length === 0 ? others : { ...others, [name]: ids } }
}

/** Returns the view without any filter; search and order stay. */
export const withoutFilters = ({ search, order, isDescending }: ListView): ListView =>
  ({ ...ALL_GAMES, search, order, isDescending })

/** One filter of a view, and the view without it. */
export interface ActiveFilter {
  readonly name: string
  readonly value: string | number | boolean
  readonly logic: Logic
  readonly without: ListView
}

/** Lists the filters of a view one by one. */
export function listFilters (view: ListView): ActiveFilter[] {
  const entry = (name: string, value: ActiveFilter['value'], without: ListView, logic: Logic = 'any'): ActiveFilter =>
    ({ name, value, logic, without })
  return [
    ...ID_LISTS.flatMap((name) => (view.ids[name] ?? []).map((id, _index, all) =>
      entry(name, id, withIds(view, name, all.filter((other) => other !== id))))),
    ...FLAGS.flatMap((name) => {
      const value = view.flags[name]
      return value === undefined ? [] : [entry(name, value, withFlag(view, name, null))]
    }),
    ...LISTS.flatMap((name) => (view.lists[name]?.values ?? []).map((value, _index, all) =>
      entry(name, value, withValues(view, name, all.filter((other) => other !== value)), view.lists[name]?.logic))),
    ...(view.changedAfter === '' ? [] : [entry('updated_after', view.changedAfter, { ...view, changedAfter: '' })]),
    ...(view.isGrouped ? [entry('group_by_meta_id', true, { ...view, isGrouped: false })] : [])
  ]
}

/** Returns the day of a time where the person is, as fields for dates hold it; empty without a time. */
export function dayOf (time: string): string {
  if (time === '') return ''
  const date = new Date(time)
  const [year, ...others] = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(String)
  return [year?.padStart(4, '0'), ...others.map((part) => part.padStart(2, '0'))].join('-')
}

/** Returns the time at which a day begins where the person is; empty without a day. */
export const startOf = (day: string): string => day === '' ? '' : new Date(`${day}T00:00`).toISOString()

/** True if a list does not show all games of its scope, or shows groups of them. */
export const isFiltered = (view: ListView): boolean => view.search.trim() !== '' || listFilters(view).length > 0
