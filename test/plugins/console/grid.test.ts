import fc from 'fast-check'
import t from 'tap'
import {
  type Geometry, baseOf, follow, layOut, move, rangeOf, reveal, scrollOf, topOf
} from '../../../plugins/console/web/ui/grid/geometry.ts'

const MILLION = 1_000_000
/** Covers of 3 to 4 with two lines of text. */
const heightOf = (width: number) => width * 4 / 3 + 48

const sizes = fc.record({ width: fc.integer({ min: 320, max: 3_840 }), viewport: fc.integer({ min: 200, max: 2_160 }) })
const counts = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: MILLION }), fc.constant(MILLION))
const grids = fc.tuple(sizes, counts).map(([size, count]) => ({
  count, geometry: layOut({ ...size, count, cell: 148, gap: 20, heightOf })
}))
const within = fc.double({ min: 0, max: 1, noNaN: true })
const farthest = ({ height, viewport }: Geometry) => Math.max(0, height - viewport)

t.test('every one of a million cells can be reached', async (t) => {
  fc.assert(fc.property(grids, within, ({ count, geometry }, share) => {
    const index = Math.round(share * (count - 1))
    const top = reveal(geometry, 0, index)
    // Browsers store whole pixels.
    const shown = topOf(geometry, Math.round(scrollOf(geometry, top)))
    const { first, end } = rangeOf(geometry, shown, count)
    return index >= first && index < end
  }))
  const geometry = layOut({ width: 1_200, viewport: 800, count: MILLION, cell: 148, gap: 20, heightOf })
  t.equal(rangeOf(geometry, topOf(geometry, geometry.scrollHeight), MILLION).end, MILLION)
  t.ok(geometry.scrollHeight < 17_000_000, 'no browser clips the element')
})

t.test('the rows of the document begin near the visible ones', async () => {
  fc.assert(fc.property(grids, within, ({ count, geometry }, share) => {
    const range = rangeOf(geometry, share * farthest(geometry), count)
    const above = range.first / geometry.columns - baseOf(geometry, range)
    return above >= 0 && above < 256
  }))
})

t.test('a position of the grid has one scroll position, and grows with it', async () => {
  fc.assert(fc.property(grids, within, within, ({ geometry }, one, other) => {
    const [low, high] = [Math.min(one, other) * farthest(geometry), Math.max(one, other) * farthest(geometry)]
    const [from, to] = [scrollOf(geometry, low), scrollOf(geometry, high)]
    return from <= to && Math.abs(topOf(geometry, from) - low) < 0.01 && Math.abs(topOf(geometry, to) - high) < 0.01
  }))
})

t.test('a short way scrolls pixel by pixel, a long one like a jump of the scroll bar', async () => {
  fc.assert(fc.property(grids, within, fc.integer({ min: -150, max: 150 }), ({ geometry }, share, way) => {
    const top = share * farthest(geometry)
    const scroll = scrollOf(geometry, top)
    const target = scroll + way
    const next = follow(geometry, { top, scroll }, target)
    const isInside = target > 0 && target < geometry.scrollHeight - geometry.viewport
    if (isInside) return Math.abs(next - Math.min(Math.max(0, top + way), farthest(geometry))) < 0.01
    return next === topOf(geometry, target)
  }))
  fc.assert(fc.property(grids, within, within, ({ geometry }, from, to) => {
    const most = Math.max(0, geometry.scrollHeight - geometry.viewport)
    const former = { top: topOf(geometry, from * most), scroll: from * most }
    if (Math.abs(to - from) * most <= geometry.viewport) return true
    return follow(geometry, former, to * most) === topOf(geometry, to * most)
  }))
})

t.test('the ends are reached by scrolling, without a gap', async () => {
  fc.assert(fc.property(grids, ({ geometry }) => {
    const most = Math.max(0, geometry.scrollHeight - geometry.viewport)
    return topOf(geometry, 0) === 0 && topOf(geometry, most) === farthest(geometry)
  }))
})

t.test('the cells to draw cover the viewport and are few', async () => {
  fc.assert(fc.property(grids, within, ({ count, geometry }, share) => {
    const top = share * farthest(geometry)
    const { first, end } = rangeOf(geometry, top, count)
    const { columns, rowHeight, viewport } = geometry
    const [above, below] = [Math.floor(first / columns) * rowHeight, Math.ceil(end / columns) * rowHeight]
    const isCovered = above <= top && (end === count || below >= top + viewport)
    return isCovered && end - first <= (Math.ceil(viewport / rowHeight) + 6) * columns
  }))
})

t.test('revealing a cell shows it whole, and moves nothing if it is visible', async () => {
  fc.assert(fc.property(grids, within, within, ({ count, geometry }, from, to) => {
    const { columns, rowHeight, viewport } = geometry
    if (viewport < rowHeight) return true
    const top = from * farthest(geometry)
    const index = Math.round(to * (count - 1))
    const start = Math.floor(index / columns) * rowHeight
    const isVisible = start >= top && start + rowHeight <= top + viewport
    const next = reveal(geometry, top, index)
    if (isVisible) return Math.abs(next - top) < 0.01
    return start >= next - 0.01 && start + rowHeight <= Math.max(next + viewport, geometry.height) + 0.01
  }))
})

t.test('keys stay within the grid, and lead back', async (t) => {
  const keys = fc.constantFrom('ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End')
  fc.assert(fc.property(grids, within, keys, ({ count, geometry }, share, key) => {
    const target = move(geometry, key, Math.round(share * (count - 1)), count)
    return target !== null && Number.isInteger(target) && target >= 0 && target < count
  }))
  const geometry = layOut({ width: 1_000, viewport: 800, count: 100, cell: 148, gap: 20, heightOf })
  t.equal(geometry.columns, 6)
  t.equal(move(geometry, 'ArrowDown', 3, 100), 9)
  t.equal(move(geometry, 'ArrowUp', 9, 100), 3)
  t.equal(move(geometry, 'ArrowUp', 3, 100), 3, 'the first row')
  t.equal(move(geometry, 'ArrowDown', 95, 100), 99, 'the last row is shorter')
  t.equal(move(geometry, 'ArrowDown', 97, 100), 97)
  t.equal(move(geometry, 'End', 0, 100), 99)
  t.equal(move(geometry, 'Home', 99, 100), 0)
  t.equal(move(geometry, 'x', 5, 100), null)
  t.equal(move(geometry, 'ArrowDown', 0, 0), null, 'an empty grid')
})

t.test('a grid has at least two columns, and as many as fit', async (t) => {
  const columnsOf = (width: number) => layOut({ width, viewport: 600, count: 10, cell: 148, gap: 20, heightOf }).columns
  t.equal(columnsOf(0), 2)
  t.equal(columnsOf(358), 2)
  t.equal(columnsOf(483), 2)
  t.equal(columnsOf(484), 3)
})
