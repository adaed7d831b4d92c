/** The sizes of a grid whose rows have one height. All lengths are in CSS pixels. */
export interface Geometry {
  readonly columns: number
  readonly rows: number
  readonly rowHeight: number
  /** The height of all rows, beyond what a browser can show. */
  readonly height: number
  /** The height of the scrolled element: that of all rows, or the browser's limit. */
  readonly scrollHeight: number
  readonly viewport: number
}

/** Firefox clips elements at 17 million pixels, other browsers at 33 million. */
const SCROLL_MAX = 12_000_000
/** Near both ends a pixel of the scroll position is a pixel of the grid, so that the ends can be reached exactly. */
const EXACT = 200_000

export interface GridOptions {
  width: number
  viewport: number
  count: number
  /** The least width of a cell. */
  cell: number
  gap: number
  /** The height of a cell of a certain width. */
  heightOf: (width: number) => number
  /** The number of columns, if it does not depend on the width. */
  columns?: number
}

/** Lays out a grid: as many columns as fit, at least two. */
export function layOut ({ width, viewport, count, cell, gap, heightOf, columns: fixed }: GridOptions): Geometry {
  const columns = fixed ?? Math.max(2, Math.floor((width + gap) / (cell + gap)))
  const rowHeight = Math.round(heightOf((width - gap * (columns - 1)) / columns)) + gap
  const rows = Math.ceil(count / columns)
  const height = rows * rowHeight
  return { columns, rows, rowHeight, height, scrollHeight: Math.min(height, SCROLL_MAX), viewport }
}

/** The largest distances that the grid and its scrolled element can move. */
function distancesOf ({ height, scrollHeight, viewport }: Geometry) {
  return { whole: Math.max(0, height - viewport), scrolled: Math.max(0, scrollHeight - viewport) }
}

/** Returns the first visible pixel of the grid for a scroll position. */
export function topOf (geometry: Geometry, scroll: number): number {
  const { whole, scrolled } = distancesOf(geometry)
  if (whole === scrolled || scroll <= EXACT) return Math.min(Math.max(0, scroll), whole)
  if (scroll >= scrolled - EXACT) return whole - Math.max(0, scrolled - scroll)
  return EXACT + (scroll - EXACT) / (scrolled - 2 * EXACT) * (whole - 2 * EXACT)
}

/** Returns the scroll position at which a pixel of the grid is the first visible one. */
export function scrollOf (geometry: Geometry, top: number): number {
  const { whole, scrolled } = distancesOf(geometry)
  if (whole === scrolled || top <= EXACT) return Math.min(Math.max(0, top), scrolled)
  if (top >= whole - EXACT) return scrolled - Math.max(0, whole - top)
  return EXACT + (top - EXACT) / (whole - 2 * EXACT) * (scrolled - 2 * EXACT)
}

/**
 * Returns the first visible pixel after a scroll event. A short way moves the grid pixel by pixel; a longer one comes
 * from the scroll bar, whose position stands for a part of the grid.
 */
export function follow (geometry: Geometry, former: { top: number, scroll: number }, scroll: number): number {
  const { whole, scrolled } = distancesOf(geometry)
  const way = scroll - former.scroll
  const isShort = Math.abs(way) <= geometry.viewport && scroll > 0 && scroll < scrolled
  if (whole === scrolled || !isShort) return topOf(geometry, scroll)
  return Math.min(Math.max(0, former.top + way), whole)
}

/** Rows that are rendered above and below the visible ones. */
const SPARE_ROWS = 2

/** The cells to render: from the first to before the last, with some rows above and below the visible ones. */
export interface Range { readonly first: number, readonly end: number }

export function rangeOf (geometry: Geometry, top: number, count: number): Range {
  const { columns, rows, rowHeight, viewport } = geometry
  const firstRow = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS)
  const endRow = Math.min(rows, Math.ceil((top + viewport) / rowHeight) + SPARE_ROWS)
  return { first: Math.min(count, firstRow * columns), end: Math.min(count, endRow * columns) }
}

/** Rows that share one place in the document. */
const BASE_ROWS = 256

/**
 * Returns the row at which the rows of the document begin. It changes seldom, because the browser paints everything
 * again when it does; the pixels from it to any row of the range are few enough for a browser.
 */
export function baseOf ({ columns }: Geometry, { first }: Range): number {
  return Math.floor(first / columns / BASE_ROWS) * BASE_ROWS
}

/** Returns the first visible pixel that shows a cell with the least movement. */
export function reveal ({ columns, rowHeight, viewport, height }: Geometry, top: number, index: number): number {
  const start = Math.floor(index / columns) * rowHeight
  const whole = Math.max(0, height - viewport)
  if (start < top) return start
  return Math.min(whole, Math.max(top, start + rowHeight - viewport))
}

/** Returns the cell that a key leads to; null if the key does not move. */
export function move (geometry: Geometry, key: string, index: number, count: number): number | null {
  const { columns, viewport, rowHeight } = geometry
  const page = Math.max(1, Math.floor(viewport / rowHeight)) * columns
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -page,
    PageDown: page,
    Home: -count,
    End: count
  }
  const step = steps[key]
  if (step === undefined || count === 0) return null
  const target = index + step
  if (target >= 0 && target < count) return target
  // Up and down stay where they are at the ends; all other keys go to the end itself.
  if (key === 'ArrowUp') return index
  if (key === 'ArrowDown') return Math.floor(index / columns) === Math.floor((count - 1) / columns) ? index : count - 1
  return target < 0 ? 0 : count - 1
}
