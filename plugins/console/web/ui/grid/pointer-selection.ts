import { useEffect, useRef } from 'preact/hooks'

/** What pointers do with the cells of a grid; cells are numbered. */
export interface PointerSelection {
  isSelecting: () => boolean
  onToggle: (index: number) => void
  onStart: (index: number) => void
  onExtend: (index: number) => void
}

const LONG_PRESS_MS = 450
const MOVED = 8
const EDGE = 48
const SCROLL_STEP = 14

/** Returns the number of the cell that an element lies in. */
export function cellOf (element: EventTarget | null): number | null {
  const cell = element instanceof Element ? element.closest<HTMLElement>('[data-index]') : null
  return cell === null ? null : Number(cell.dataset.index)
}

interface Press {
  index: number
  x: number
  y: number
  isDragging: boolean
  timer: ReturnType<typeof setTimeout> | null
}

/**
 * Selects cells by pointer: Ctrl-click and Shift-click, a drag of the mouse over cells, and a long press of a finger.
 * Taps select after the long press.
 *
 * @returns attributes for the element around the grid
 */
export function usePointerSelection (selection: PointerSelection) {
  const press = useRef<Press | null>(null)
  const swallowsClick = useRef(false)
  const scrolling = useRef(0)

  function end (): void {
    if (press.current?.timer != null) clearTimeout(press.current.timer)
    cancelAnimationFrame(scrolling.current)
    press.current = null
  }
  useEffect(() => end, [])

  /** Scrolls while a drag is near an edge, and selects what comes into view. */
  function follow (area: HTMLElement, x: number, y: number): void {
    cancelAnimationFrame(scrolling.current)
    if (press.current?.isDragging !== true) return
    const index = cellOf(document.elementFromPoint(x, y))
    if (index !== null) selection.onExtend(index)
    const { top, bottom } = area.getBoundingClientRect()
    const way = y < top + EDGE ? -SCROLL_STEP : y > bottom - EDGE ? SCROLL_STEP : 0
    if (way === 0) return
    area.querySelector('.grid')?.scrollBy({ top: way, behavior: 'instant' })
    scrolling.current = requestAnimationFrame(() => { follow(area, x, y) })
  }

  return {
    onPointerDown (event: PointerEvent): void {
      end()
      swallowsClick.current = false
      const index = cellOf(event.target as Element)
      if (index === null || event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey) return
      const isTouch = event.pointerType !== 'mouse'
      const select = () => {
        swallowsClick.current = true
        selection.onToggle(index)
      }
      const timer = isTouch ? setTimeout(select, LONG_PRESS_MS) : null
      press.current = { index, x: event.clientX, y: event.clientY, isDragging: false, timer }
    },

    onPointerMove (event: PointerEvent): void {
      const { current } = press
      if (current === null) return
      const hasMoved = Math.hypot(event.clientX - current.x, event.clientY - current.y) > MOVED
      if (current.timer !== null) {
        if (hasMoved) end()
        return
      }
      if (!current.isDragging && !hasMoved) return
      if (!current.isDragging) {
        current.isDragging = true
        selection.onStart(current.index)
      }
      follow(event.currentTarget as HTMLElement, event.clientX, event.clientY)
    },

    onPointerUp (): void {
      if (press.current?.isDragging === true) swallowsClick.current = true
      end()
    },
    onPointerCancel: end,
    onPointerLeave: end,

    /** A long press opens no menu of the browser. */
    onContextMenu (event: Event): void {
      if (swallowsClick.current) event.preventDefault()
    },

    onClickCapture (event: MouseEvent): void {
      const index = cellOf(event.target as Element)
      const selects = index !== null && (event.ctrlKey || event.metaKey || event.shiftKey || isTap(event, selection))
      if (!selects && !swallowsClick.current) return
      event.preventDefault()
      event.stopPropagation()
      if (swallowsClick.current || index === null) {
        swallowsClick.current = false
        return
      }
      if (event.shiftKey) selection.onExtend(index)
      else selection.onToggle(index)
    }
  }
}

/** True for a tap of a finger while a selection exists, which selects instead of opening. */
const isTap = (event: MouseEvent, { isSelecting }: PointerSelection): boolean =>
  event instanceof PointerEvent && event.pointerType === 'touch' && isSelecting()
