/** Keys that the buttons of a standard gamepad stand for, by the number of the button. */
export const BUTTON_KEYS: Readonly<Record<number, string>> = {
  0: 'Enter', 1: 'Escape', 4: 'PageUp', 5: 'PageDown', 12: 'ArrowUp', 13: 'ArrowDown', 14: 'ArrowLeft', 15: 'ArrowRight'
}
/** Further than this a stick counts as a direction. */
const STICK = 0.6
const REPEAT_FIRST_MS = 400
const REPEAT_MS = 110

/** The state of a gamepad, as browsers tell it. */
export interface PadState {
  readonly buttons: readonly { readonly pressed: boolean }[]
  readonly axes: readonly number[]
}

/** Returns the keys that are held: buttons, and the left stick as arrows. */
export function listHeld ({ buttons, axes: [x = 0, y = 0] }: PadState): string[] {
  const isPressed = (number: string) => buttons[Number(number)]?.pressed === true
  const held = Object.entries(BUTTON_KEYS).filter(([number]) => isPressed(number)).map(([, key]) => key)
  if (x < -STICK) held.push('ArrowLeft')
  if (x > STICK) held.push('ArrowRight')
  if (y < -STICK) held.push('ArrowUp')
  if (y > STICK) held.push('ArrowDown')
  return [...new Set(held)]
}

/** Creates a function that turns held keys into presses. Arrows and pages repeat while they are held. */
export function createPresses () {
  /** When each held key counts again. */
  const next = new Map<string, number>()
  return (held: readonly string[], now: number): string[] => {
    for (const key of next.keys()) if (!held.includes(key)) next.delete(key)
    return held.filter((key) => {
      const at = next.get(key)
      if (at !== undefined && (now < at || key === 'Enter' || key === 'Escape')) return false
      next.set(key, now + (at === undefined ? REPEAT_FIRST_MS : REPEAT_MS))
      return true
    })
  }
}
