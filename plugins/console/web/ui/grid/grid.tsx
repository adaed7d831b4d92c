import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Geometry, type GridOptions, type Range, baseOf, follow, layOut, move, rangeOf, reveal, scrollOf } from './geometry.ts'
import { readKey } from '../direction.ts'
import { type GridSelection, selectByKey } from './key-selection.ts'
import { cellOf } from './pointer-selection.ts'
import { Row } from './row.tsx'
import { readPlace, storePlace } from './stored-position.ts'

/** Commands for a grid from outside. */
export interface GridHandle { jump: (index: number) => void, focus: () => void }

interface GridProps extends Omit<GridOptions, 'viewport' | 'width'> {
  label: string
  /** Draws one cell. */
  children: (index: number) => ComponentChildren
  /** Called when other cells become visible. */
  onRange: (range: Range) => void
  /** Called when a person chooses a cell by Enter. */
  onOpen: (index: number) => void
  /** Returns the first cell that begins with typed letters; null if the order has no letters. */
  onType?: (letters: string) => number | null
  handle?: { current: GridHandle | null }
  selection?: GridSelection
}

const IDLE_MS = 180
const TYPING_MS = 900
const PLACE_MS = 400

/** The size of an element, which follows the window. */
function useSize (element: { current: HTMLElement | null }) {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = () => { setSize({ width: current.clientWidth, height: current.clientHeight }) }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => { observer.disconnect() }
  }, [])
  return size
}

interface Position { top: number, scroll: number }

/** The scroll position, which stays true while the grid is higher than any element of a browser. */
function useScroll (element: { current: HTMLElement | null }, geometry: Geometry) {
  const [position, setPosition] = useState<Position>({ top: 0, scroll: 0 })
  const current = useRef(position)
  const latest = useRef(geometry)
  latest.current = geometry
  const idle = useRef<ReturnType<typeof setTimeout>>(undefined)

  function store (next: Position): void {
    current.current = next
    setPosition(next)
  }

  /** Shows a pixel of the grid at the top, and sets the scroll position that stands for it. */
  function show (top: number): void {
    const scroll = Math.round(scrollOf(latest.current, top))
    store({ top, scroll })
    element.current?.scrollTo({ top: scroll, behavior: 'instant' })
  }

  function handleScroll (): void {
    const scroll = element.current?.scrollTop ?? 0
    const { current: former } = current
    if (Math.abs(scroll - former.scroll) >= 1) store({ top: follow(latest.current, former, scroll), scroll })
    clearTimeout(idle.current)
    // Short ways move the grid further than the scroll bar, which is corrected when nobody scrolls.
    const { height, scrollHeight } = latest.current
    if (height > scrollHeight) idle.current = setTimeout(() => { show(current.current.top) }, IDLE_MS)
  }

  useEffect(() => () => { clearTimeout(idle.current) }, [])
  return { position, show, handleScroll, topNow: () => current.current.top }
}

/** Lays the grid out again when a size changes. */
function useGeometry (options: GridOptions): Geometry {
  const { width, viewport, count, cell, gap, heightOf, columns } = options
  return useMemo(() => layOut(options), [width, viewport, count, cell, gap, heightOf, columns])
}

/** Returns the function that finds a cell by letters, which belong together if they follow each other quickly. */
function useTyping (onType: GridProps['onType']): (key: string) => number | null {
  const typed = useRef({ letters: '', at: 0 })
  return (key) => {
    const now = Date.now()
    const letters = now - typed.current.at > TYPING_MS ? key : typed.current.letters + key
    typed.current = { letters, at: now }
    return onType?.(letters) ?? null
  }
}

/** Stores the place of the grid when it rests, once `isReady`. */
function useStoredPlace (isReady: { current: boolean }, store: () => void, place: readonly unknown[]): void {
  useEffect(() => {
    if (!isReady.current) return
    // Safari refuses more than 100 changes of the history in 30 seconds.
    const { href } = location
    const timer = setTimeout(() => { if (location.href === href) store() }, PLACE_MS)
    return () => { clearTimeout(timer) }
  }, place)
}

/** Returns the rows that a range lies in. */
function listRows ({ first, end }: Range, columns: number): number[] {
  const from = Math.floor(first / columns)
  return Array.from({ length: Math.max(0, Math.ceil(end / columns) - from) }, (_, below) => from + below)
}

const focusOn = ({ current }: { current: HTMLDivElement | null }): void => { current?.focus({ preventScroll: true }) }

/** A grid of any number of cells, of which only the visible ones exist. Arrows, page keys and letters move in it. */
export function Grid (props: GridProps) {
  const { label, count, cell, gap, heightOf, columns: fixed, children } = props
  const { onRange, onOpen, onType, handle, selection } = props
  const element = useRef<HTMLDivElement>(null)
  const id = useId()
  const { width, height: viewport } = useSize(element)
  const geometry = useGeometry({ width, viewport, count, cell, gap, heightOf, columns: fixed })
  const { position: { top, scroll }, show, handleScroll, topNow } = useScroll(element, geometry)
  const [former] = useState(readPlace)
  const [active, setActive] = useState(former?.active ?? 0)
  const findTyped = useTyping(onType)
  const isExtending = useRef(false)
  const range = rangeOf(geometry, top, width === 0 ? 0 : count)
  const { columns, rowHeight } = geometry
  useEffect(() => { if (range.end > 0) onRange(range) }, [range.first, range.end])
  useEffect(() => { if (active >= count && count > 0) setActive(count - 1) }, [count])
  // Other columns put the same cells elsewhere: the first visible one stays.
  const firstVisible = useRef(0)
  const isRestored = useRef(former === null)
  useLayoutEffect(() => {
    if (former === null || isRestored.current || width === 0) {
      return show(Math.floor(firstVisible.current / columns) * rowHeight)
    }
    isRestored.current = true
    show(Math.min(former.above / columns * rowHeight, Math.max(0, geometry.height - viewport)))
    // A control that the person uses, such as the size of covers, keeps the focus.
    if (document.activeElement?.matches('body, main') !== false) focusOn(element)
  }, [columns, rowHeight, width === 0])
  firstVisible.current = Math.floor(top / rowHeight) * columns

  const remember = (index: number) => { storePlace({ active: index, above: topNow() / rowHeight * columns }) }
  useStoredPlace(isRestored, () => { remember(active) }, [active, top, columns])

  function activate (index: number): void {
    setActive(index)
    show(reveal(geometry, topNow(), index))
  }

  if (handle !== undefined) {
    handle.current = {
      jump (index) {
        setActive(index)
        show(Math.min(Math.floor(index / columns) * rowHeight, Math.max(0, geometry.height - viewport)))
      },
      focus: () => { focusOn(element) }
    }
  }

  function open (index: number): void {
    remember(index)
    onOpen(index)
  }

  /** Moves the focus to a cell. With Shift, everything from the first cell of the movement on is selected. */
  function moveTo (target: number, isRange: boolean): void {
    if (isRange && !isExtending.current) selection?.onStart(active)
    isExtending.current = isRange
    activate(target)
    if (isRange) selection?.onExtend(target)
  }

  function handleKey (event: KeyboardEvent): void {
    if (event.altKey || event.target !== element.current) return
    if (selection !== undefined && selectByKey(selection, event, active)) return event.preventDefault()
    if (event.ctrlKey || event.metaKey) return
    const target = move(geometry, readKey(event), active, count)
    if (target !== null) moveTo(target, event.shiftKey)
    else if (event.key === 'Enter') open(active)
    else if (event.key.length === 1 && /[\p{L}\p{N}]/u.test(event.key)) activate(findTyped(event.key) ?? active)
    else return
    event.preventDefault()
  }

  /** A press may open a game, which leaves this entry of the history. */
  function handlePoint ({ target }: PointerEvent): void {
    const index = cellOf(target)
    if (index === null) return
    setActive(index)
    remember(index)
  }

  const base = baseOf(geometry, range)
  const cells = { id, gap, columns, count, active, selection, children }
  const rows = listRows(range, columns).map((row) => (
    <Row key={row} row={row} top={(row - base) * rowHeight} {...cells} />
  ))
  return (
    <div
      ref={element} class='grid' role='grid' tabIndex={0} aria-label={label} aria-multiselectable={selection !== undefined}
      aria-rowcount={geometry.rows} aria-colcount={columns}
      aria-activedescendant={active >= range.first && active < range.end ? `${id}-${active}` : undefined}
      onScroll={handleScroll} onKeyDown={handleKey} onPointerDown={handlePoint}
    >
      <div class='grid-all' role='presentation' style={{ blockSize: `${geometry.scrollHeight}px` }}>
        <div class='grid-window' role='presentation' style={{ transform: `translateY(${scroll - top + base * rowHeight}px)` }}>{rows}</div>
      </div>
    </div>
  )
}
