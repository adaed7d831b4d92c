import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type Collection, useFavoriteIds } from '../../api/collections.ts'
import { onEvent } from '../../api/socket.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { Button } from '../../ui/button.tsx'
import { type GridHandle, Grid } from '../../ui/grid/grid.tsx'
import type { GridSelection } from '../../ui/grid/key-selection.ts'
import { type PointerSelection, usePointerSelection } from '../../ui/grid/pointer-selection.ts'
import { Failed, Notice, Skeleton } from '../../ui/state.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { SelectionBar } from './actions/selection-bar.tsx'
import { GameCell, GameRow, ListHead } from './game-cell.tsx'
import { useGamePages } from './game-pages.ts'
import { JumpBar, JumpSelect, useJumps } from './jump-bar.tsx'
import type { Jump } from './jump.ts'
import type { ListQuery } from './list-query.ts'
import { layoutOf, look } from './look.ts'
import { createSelection } from './selection.ts'

interface GamesProps {
  label: string
  query: ListQuery
  /** The plain collection of the account whose ROMs are listed, which can lose them. */
  collection?: Collection | undefined
  /** Shown in place of an empty list. */
  empty: ComponentChildren
  onCount: (count: number) => void
}

const Waiting = () => (
  <div class='games-wait' aria-hidden>{Array.from({ length: 12 }, (_, key) => <Skeleton key={key} height='13rem' />)}</div>
)

/** The ROMs that a query selects, as covers or as a list, which can be selected by keyboard, mouse and touch. */
export function Games ({ label, query, collection, empty, onCount }: GamesProps) {
  const { go } = useView()
  const handle = useRef<GridHandle>(null)
  const { key, summary: { data: { value: list }, failure }, pages, loadRange, retry, loadIds } = useGamePages(query)
  const latestIds = useRef(loadIds)
  latestIds.current = loadIds
  const selection = useMemo(() => createSelection((from, end) => latestIds.current(from, end)), [])
  const favorites = useFavoriteIds()
  const count = list?.total ?? 0
  const jumps = useJumps(query, count, list?.char_index ?? {})
  useEffect(() => { if (list !== undefined) onCount(count) }, [list])
  useEffect(() => onEvent('roms:deleted', ({ ids }) => { selection.drop(ids) }), [])

  const extend = (index: number) => { selection.extend(index).catch(tellFailure) }
  const toggle = (index: number) => {
    const rom = pages.find(index)
    if (rom !== undefined) selection.toggle(index, rom.id)
  }
  const keys: GridSelection = {
    has: (index) => selection.has(pages.find(index)?.id ?? -1),
    onToggle: toggle,
    onStart: selection.startAt,
    onExtend: extend,
    onAll: () => { selection.selectAll(count).catch(tellFailure) },
    onClear: () => {
      const { size } = selection.ids.value
      selection.clear()
      return size > 0
    }
  }
  const pointers: PointerSelection = {
    isSelecting: () => selection.ids.value.size > 0, onToggle: toggle, onStart: selection.startAt, onExtend: extend
  }
  const area = usePointerSelection(pointers)
  const jump = ({ find }: Jump) => {
    Promise.resolve(find()).then((index) => { handle.current?.jump(Math.min(index, count - 1)) }).catch(tellFailure)
  }

  void pages.version.value
  const { value: ids } = selection.ids
  const { value: problem } = pages.failure
  if (list === undefined) return failure.value === null ? <Waiting /> : <Failed failure={failure.value} />
  if (count === 0) return <div class='games-empty'>{empty}</div>
  const letters = Object.entries(list.char_index)
  const findLetter = (typed: string): number | null =>
    letters.find(([letter]) => letter.toLowerCase() === typed.slice(-1).toLowerCase())?.[1] ?? null
  const { view, size } = look.value
  const layout = layoutOf({ view, size })
  const Cell = view === 'grid' ? GameCell : GameRow
  return (
    <>
      <p id='games-help' class='visually-hidden'>{texts().list.selection.help}</p>
      {problem !== null && (
        <Notice kind='failure'>
          {problem.message || texts().errors.failed.title} <Button kind='quiet' isSmall onClick={retry}>{texts().common.retry}</Button>
        </Notice>
      )}
      {view === 'list' && <ListHead />}
      <div class={`games games-${view}`} style={{ '--row': `${layout.heightOf(0)}px` }} data-selecting={ids.size > 0 ? '' : undefined} aria-describedby='games-help' {...area}>
        <Grid
          key={`${view} ${size} ${key}`} label={label} count={count} {...layout} handle={handle} selection={keys}
          onRange={loadRange} onType={findLetter}
          onOpen={(index) => { const rom = pages.find(index); if (rom !== undefined) go(`roms/${rom.id}`) }}
        >
          {(index) => {
            const rom = pages.find(index)
            return (
              <Cell
                rom={rom} isFavorite={rom !== undefined && favorites.has(rom.id)}
                isSelected={rom !== undefined && ids.has(rom.id)} isOnePlatform={query.platform_ids?.length === 1}
                onSelect={() => { toggle(index) }}
              />
            )
          }}
        </Grid>
        {jumps.length > 1 && <><JumpBar jumps={jumps} onJump={jump} /><JumpSelect jumps={jumps} onJump={jump} /></>}
      </div>
      {ids.size > 0 && (
        <SelectionBar
          ids={[...ids]} count={count} collection={collection} onAll={() => { keys.onAll() }}
          onEnd={() => { selection.clear() }} onLeave={() => { handle.current?.focus() }}
        />
      )}
    </>
  )
}
