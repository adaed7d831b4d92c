import type { paths } from '../../api/schema.d.ts'

export type ListQuery = NonNullable<paths['/api/roms']['get']['parameters']['query']>

/** The orders that the list offers, with the direction that people expect first. */
export const ORDERS = { name: 'asc', created_at: 'desc', fs_size_bytes: 'desc', first_release_date: 'asc', average_rating: 'desc' } as const
export type Order = keyof typeof ORDERS

const isOrder = (value: string | undefined): value is Order => value !== undefined && Object.hasOwn(ORDERS, value)

/** What the address of a list says: filters, search and order. */
export interface ListView { search: string, order: Order }

export const readListView = (query: Readonly<Record<string, string>>): ListView =>
  ({ search: query.search ?? '', order: isOrder(query.order) ? query.order : 'name' })

/** Returns the query of an address; what is as usual is left out. */
export function writeListView ({ search, order }: ListView): string {
  const query = new URLSearchParams({ ...(search === '' ? {} : { search }), ...(order === 'name' ? {} : { order }) }).toString()
  return query === '' ? '' : `?${query}`
}

/** Returns the query of a request for a list. */
export const toListQuery = ({ search, order }: ListView): ListQuery => ({ search_term: search, order_by: order, order_dir: ORDERS[order] })
