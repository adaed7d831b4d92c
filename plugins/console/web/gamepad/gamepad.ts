import { DIRECTIONS, type Direction, findNearest } from './nearest.ts'
import { createPresses, listHeld } from './presses.ts'

/** Stops of Tab. Controls within a grid or a row have none, because those move by arrows themselves. */
const FOCUSABLE = ':is(a[href], button, input, select, textarea, [tabindex="0"]):not(:disabled, [tabindex="-1"])'

const isDirection = (key: string): key is Direction => DIRECTIONS.some((direction) => direction === key)

/** Lists what a person may move to: within an open dialog only its own controls. */
function listFocusable (): HTMLElement[] {
  const scope = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document
  return [...scope.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((element) => element.checkVisibility())
}

function moveFocus (direction: Direction): void {
  const { activeElement: active } = document
  const others = listFocusable().filter((element) => element !== active)
  const from = active === null || active === document.body ? null : active.getBoundingClientRect()
  const boxes = others.map((element) => element.getBoundingClientRect())
  // A page that was just opened has the focus itself. The way into it leads to its first control.
  const isInto = direction === 'ArrowDown' && active?.matches('main') === true
  const inner = isInto ? others.findIndex((element) => active.contains(element)) : -1
  const index = inner >= 0 ? inner : from === null ? 0 : findNearest(from, boxes, direction)
  const target = index === null ? undefined : others[index]
  target?.focus()
  target?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

/** Presses a key where the focus is. A grid or a menu uses it; otherwise it moves the focus, opens, or goes back. */
function press (key: string): void {
  const target = document.activeElement ?? document.body
  const isUnused = target.dispatchEvent(new KeyboardEvent('keydown', { key, code: key, bubbles: true, cancelable: true }))
  if (!isUnused) return
  if (isDirection(key)) return moveFocus(key)
  if (key === 'Enter' && target instanceof HTMLElement) return target.click()
  if (key !== 'Escape') return
  const dialog = document.querySelector<HTMLDialogElement>('dialog[open]')
  if (dialog !== null) dialog.requestClose()
  else history.back()
}

/** Lets gamepads move the focus. Browsers tell the state of buttons only when asked, at each frame. */
export function followGamepads (): void {
  const toPresses = createPresses()
  let isRunning = false

  function look (now: number): void {
    const pads = navigator.getGamepads().filter((pad) => pad !== null)
    isRunning = pads.length > 0
    if (document.hasFocus()) for (const key of toPresses(pads.flatMap(listHeld), now)) press(key)
    if (isRunning) requestAnimationFrame(look)
  }

  addEventListener('gamepadconnected', () => {
    if (isRunning) return
    isRunning = true
    requestAnimationFrame(look)
  })
}
