/** The part of a grid that a person looked at. */
export interface Place {
  readonly active: number
  /** Cells above the visible part, with a fraction of the first visible row. */
  readonly above: number
}

const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0

/** Returns the place that the current entry of the history remembers; null for a page that was just opened. */
export function readPlace (): Place | null {
  const { grid } = (history.state ?? {}) as { grid?: Partial<Place> }
  return isCount(grid?.active) && isCount(grid.above) ? { active: grid.active, above: grid.above } : null
}

/** Stores the place in the entry of the history, so that the way back and a reload show it again. */
export function storePlace (grid: Place): void {
  history.replaceState({ ...history.state, grid }, '')
}
