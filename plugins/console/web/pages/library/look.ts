import { signal } from '@preact/signals'
import { readChoice, storeChoice } from '../../choices.ts'

/** The forms of a list. */
export const VIEWS = ['grid', 'list'] as const
export type View = typeof VIEWS[number]

/** The least width of a cover for each size. */
const COVERS = [96, 124, 152, 196, 248] as const
/** The height of a row of the list for each size. */
const ROWS = [40, 48, 60, 76, 92] as const
export const SIZE_MAX = COVERS.length - 1
const SIZE_USUAL = 2

const readSize = (): number => {
  const stored = Number(readChoice('cover-size') ?? SIZE_USUAL)
  return Number.isInteger(stored) && stored >= 0 && stored <= SIZE_MAX ? stored : SIZE_USUAL
}

/** How this browser shows lists. */
export const look = signal<{ readonly view: View, readonly size: number }>({
  view: readChoice('list-view') === 'list' ? 'list' : 'grid', size: readSize()
})

export function chooseLook (chosen: { view?: View, size?: number }): void {
  look.value = { ...look.value, ...chosen }
  storeChoice('list-view', look.value.view)
  storeChoice('cover-size', String(look.value.size))
}

/** A cover of 3 to 4, and two lines of text below. */
const heightOfCover = (width: number) => width * 4 / 3 + 48
const HEIGHTS = ROWS.map((height) => () => height)

/** Returns the layout of the grid for a look. */
export function layoutOf ({ view, size }: { view: View, size: number }) {
  if (view === 'list') return { cell: 240, gap: 0, columns: 1, heightOf: HEIGHTS[size] ?? heightOfCover }
  return { cell: COVERS[size] ?? COVERS[SIZE_USUAL], gap: 20, columns: undefined, heightOf: heightOfCover }
}
