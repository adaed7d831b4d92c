import { useSignalEffect } from '@preact/signals'
import search from 'lucide/dist/esm/icons/search.mjs'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { usePlatforms } from '../../api/platforms.ts'
import { useResource } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle, useView } from '../../navigate.ts'
import { Select, TextField } from '../../ui/field.tsx'
import { Game } from '../../ui/game.tsx'
import { type GridHandle, Grid } from '../../ui/grid/grid.tsx'
import type { Range } from '../../ui/grid/geometry.ts'
import { createPages } from '../../ui/grid/pages.ts'
import { Empty, Failed } from '../../ui/state.tsx'
import { NotFound } from '../errors/errors.tsx'
import { type ListQuery, type ListView, readListView, toListQuery, writeListView } from './list-query.ts'

const PAGE = 60
const NO_EXTRAS = { with_total: false, with_char_index: false, with_filter_values: false, with_rom_id_index: false } as const
const CELL = 148
const GAP = 20
/** A cover of 3 to 4, and two lines of text below. */
const heightOf = (width: number) => width * 4 / 3 + 48

/** The grid of the ROMs that a query selects. */
function Games ({ query, label }: { query: ListQuery, label: string }) {
  const key = JSON.stringify(query)
  const { library } = texts()
  const { go } = useView()
  const handle = useRef<GridHandle>(null)
  const shown = useRef<Range>({ first: 0, end: PAGE })
  const summary = useResource(`list ${key}`, (signal) => call(api.GET('/api/roms', {
    params: { query: { ...query, ...NO_EXTRAS, limit: 1, with_total: true, with_char_index: true } }, signal
  })), { 'scan:update_stats': true, 'scan:done': true, 'rom:updated': true, 'permissions:changed': true })
  const pages = useMemo(() => createPages((offset, limit, signal) => call(api.GET('/api/roms', {
    params: { query: { ...query, ...NO_EXTRAS, offset, limit } }, signal
  })), PAGE), [key])
  useEffect(() => () => { pages.end() }, [pages])
  // The summary follows events; when it loads again, the visible pages do too.
  const isFirst = useRef(true)
  useSignalEffect(() => {
    const { value } = summary.data
    if (value === undefined) return
    if (!isFirst.current) pages.renew(shown.current)
    isFirst.current = false
  })

  const { data: { value: list }, failure } = summary
  void pages.version.value
  if (list === undefined) return failure.value === null ? null : <Failed failure={failure.value} />
  if (list.total === 0) return <Empty icon={search} title={library.noGames.title} text={library.noGames.text} />
  const letters = Object.entries(list.char_index)
  const findLetter = (typed: string): number | null =>
    letters.find(([letter]) => letter.toLowerCase() === typed.slice(-1).toLowerCase())?.[1] ?? null
  return (
    <div class='library-body'>
      <Grid
        label={label} count={list.total ?? 0} cell={CELL} gap={GAP} heightOf={heightOf} handle={handle}
        onRange={(range) => { shown.current = range; pages.want(range) }} onType={findLetter}
        onOpen={(index) => { const rom = pages.find(index); if (rom !== undefined) go(`roms/${rom.id}`) }}
      >
        {(index) => <Game rom={pages.find(index)} isCell />}
      </Grid>
      {letters.length > 1 && (
        <div class='library-letters' role='group' aria-label={library.letters}>
          {letters.map(([letter, index]) => (
            <button key={letter} type='button' aria-label={library.jumpTo(letter)} onClick={() => { handle.current?.jump(index) }}>{letter}</button>
          ))}
        </div>
      )}
    </div>
  )
}

interface HeadProps { title: string, view: ListView, onChange: (view: ListView) => void }

/** The title of the list, its search and its order. */
function Head ({ title, view, onChange }: HeadProps) {
  const { library } = texts()
  return (
    <div class='page-head'>
      <h1>{title}</h1>
      <div class='page-tools'>
        <TextField label={library.search} type='search' value={view.search} onInput={(text) => { onChange({ ...view, search: text }) }} />
        <Select label={library.order} value={view.order} options={library.orders} onChange={(order) => { onChange({ ...view, order }) }} />
      </div>
    </div>
  )
}

/** The games of the whole library, or of one platform. */
export default function Library ({ slug }: { slug?: string }) {
  const { library } = texts()
  const { path, query, go } = useView()
  const { data: { value: platforms } } = usePlatforms()
  const platform = slug === undefined ? null : platforms?.find((one) => one.slug === slug)
  const title = slug === undefined ? library.all : platform?.display_name
  useTitle(title)
  const view = readListView(query)
  if (slug !== undefined && platforms !== undefined && platform === undefined) return <NotFound />
  if (title === undefined) return null
  const listQuery = { ...toListQuery(view), ...(platform == null ? {} : { platform_ids: [platform.id] }) }
  return (
    <div class='library'>
      <Head title={title} view={view} onChange={(next) => { go(`${path}${writeListView(next)}`, true) }} />
      <Games query={listQuery} label={title} key={JSON.stringify(listQuery)} />
    </div>
  )
}
