import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Invalidation, useResource } from '../../api/resource.ts'
import type { Range } from '../../ui/grid/geometry.ts'
import { createPages } from '../../ui/grid/pages.ts'
import type { ListQuery } from './list-query.ts'

/** Leaves out everything besides the ROMs of a page. */
export const NO_EXTRAS = {
  with_total: false, with_char_index: false, with_filter_values: false, with_rom_id_index: false
} as const
const PAGE = 60

/** Events after which any list of ROMs may differ. */
export const LIST_EVENTS: Invalidation = {
  'scan:update_stats': true, 'scan:done': true, 'rom:updated': true, 'roms:deleted': true, 'permissions:changed': true
}
/** A list of a collection, or of favourites, also depends on its members. */
const MEMBER_EVENTS: Invalidation = { ...LIST_EVENTS, 'collections:changed': true }

const dependsOnMembers = (query: ListQuery): boolean =>
  query.collection_id !== undefined || query.smart_collection_id !== undefined || query.favorite !== undefined

/** True if the letters of a list are places to jump to. */
export const hasLetters = ({ order_by: order }: ListQuery): boolean => order === 'name' || order === 'fs_name'

/** Loads one ROM of a list. */
export const loadAt = async (query: ListQuery, offset: number) =>
  (await call(api.GET('/api/roms', { params: { query: { ...query, ...NO_EXTRAS, offset, limit: 1 } } }))).items[0]

/** Loads the total and the letter index of a list, and the pages of it that people look at. */
export function useGamePages (query: ListQuery) {
  const key = JSON.stringify(query)
  const shown = useRef<Range>({ first: 0, end: PAGE })
  const index = useRef<Promise<number[]> | null>(null)
  const summary = useResource(`list ${key}`, (signal) => call(api.GET('/api/roms', {
    params: { query: { ...query, ...NO_EXTRAS, limit: 1, with_total: true, with_char_index: hasLetters(query) } },
    signal
  })), dependsOnMembers(query) ? MEMBER_EVENTS : LIST_EVENTS)
  const pages = useMemo(() => createPages((offset, limit, signal) => call(api.GET('/api/roms', {
    params: { query: { ...query, ...NO_EXTRAS, offset, limit } }, signal
  })), PAGE), [key])
  useEffect(() => () => { pages.end() }, [pages])
  // The summary follows events; when it loads again, the visible pages do too.
  const pagesWithSummary = useRef<unknown>(null)
  const { value: current } = summary.data
  useEffect(() => {
    if (current === undefined) return
    index.current = null
    if (pagesWithSummary.current === pages) pages.renew(shown.current)
    pagesWithSummary.current = pages
  }, [current])

  /** Loads the ids of a part of the list; those of loaded pages cost no request. */
  async function loadIds (from: number, end: number): Promise<readonly number[]> {
    const known: number[] = []
    for (let at = from; at < end; at++) {
      const rom = pages.find(at)
      if (rom === undefined) break
      known.push(rom.id)
    }
    if (known.length === end - from) return known
    index.current ??= call(api.GET('/api/roms', { params: { query: { ...query, ...NO_EXTRAS, limit: 1, with_rom_id_index: true } } }))
      .then(({ rom_id_index: ids }) => ids)
    // A failed request is sent again by the next selection.
    index.current.catch(() => { index.current = null })
    return (await index.current).slice(from, end)
  }

  const loadRange = (range: Range): void => {
    shown.current = range
    pages.loadRange(range)
  }
  const retry = (): void => { pages.loadRange(shown.current) }
  return { key, summary, pages, loadRange, retry, loadIds }
}
