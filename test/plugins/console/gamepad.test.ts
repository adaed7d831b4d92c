import t from 'tap'
import { DIRECTIONS, findNearest } from '../../../plugins/console/web/gamepad/nearest.ts'
import { createPresses, listHeld } from '../../../plugins/console/web/gamepad/presses.ts'

/** Boxes of 100 by 40 in rows of three, with gaps of 20. */
const BOXES = Array.from({ length: 9 }, (_, index) => {
  const [left, top] = [index % 3 * 120, Math.floor(index / 3) * 60]
  return { left, top, right: left + 100, bottom: top + 40 }
})

t.test('a direction leads to the neighbour of a row or column, and ends at the border', async (t) => {
  const targets = BOXES.map((from) => DIRECTIONS.map((direction) => findNearest(from, BOXES, direction)))
  t.same(targets[4], [1, 7, 3, 5], 'up, down, left, right from the middle')
  t.same(targets[0], [null, 3, null, 1])
  t.same(targets[8], [5, null, 7, null])
})

t.test('a wide field is reached from any box below it', async (t) => {
  const wide = { left: 0, top: -60, right: 340, bottom: -20 }
  for (const box of BOXES.slice(0, 3)) t.equal(findNearest(box, [wide, ...BOXES], 'ArrowUp'), 0)
  t.equal(findNearest(wide, BOXES, 'ArrowDown'), 1, 'and leads to the box below its middle')
})

t.test('buttons and the stick stand for keys', async (t) => {
  const buttons = Array.from({ length: 17 }, (_, index) => ({ pressed: index === 0 || index === 13 }))
  t.same(listHeld({ buttons, axes: [0.1, 1] }), ['Enter', 'ArrowDown'])
  t.same(listHeld({ buttons: [], axes: [-0.9, -0.9] }), ['ArrowLeft', 'ArrowUp'])
  t.same(listHeld({ buttons: [], axes: [] }), [])
})

t.test('a held arrow repeats, and a held button counts once', async (t) => {
  const toPresses = createPresses()
  const times = [0, 16, 390, 401, 450, 512]
  t.same(times.map((now) => toPresses(['ArrowDown', 'Enter'], now)), [['ArrowDown', 'Enter'], [], [], ['ArrowDown'], [], ['ArrowDown']])
  t.same(toPresses([], 520), [])
  t.same(toPresses(['Enter'], 530), ['Enter'], 'pressed again')
})
