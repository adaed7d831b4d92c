export const DIRECTIONS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'] as const
export type Direction = typeof DIRECTIONS[number]

/** The place of an element on the screen. */
export interface Box { readonly left: number, readonly top: number, readonly right: number, readonly bottom: number }

/** A way aside counts more than a way ahead, so that rows and columns are followed. */
const ASIDE = 3

/** Returns a box as if the direction were down. */
function turn ({ left, top, right, bottom }: Box, direction: Direction): Box {
  switch (direction) {
    case 'ArrowDown': return { left, top, right, bottom }
    case 'ArrowUp': return { left, top: -bottom, right, bottom: -top }
    case 'ArrowRight': return { left: top, top: left, right: bottom, bottom: right }
    case 'ArrowLeft': return { left: top, top: -right, right: bottom, bottom: -left }
  }
}

/** Returns the index of the box that lies nearest in a direction; null if there is none. */
export function findNearest (from: Box, others: readonly Box[], direction: Direction): number | null {
  const start = turn(from, direction)
  let best: { index: number, distance: number } | null = null
  for (const [index, other] of others.entries()) {
    const box = turn(other, direction)
    const ahead = box.top - start.bottom
    // Half a box may overlap, because neighbours are often not aligned.
    if (box.top + box.bottom <= start.top + start.bottom || ahead < (start.top - start.bottom) / 2) continue
    const aside = Math.max(0, start.left - box.right, box.left - start.right)
    const middle = Math.abs(box.left + box.right - start.left - start.right) / 2
    const distance = Math.max(0, ahead) + ASIDE * aside + middle / ASIDE
    if (best === null || distance < best.distance) best = { index, distance }
  }
  return best?.index ?? null
}
