/** The selected cells of a grid: Space, Shift with arrows, Ctrl-A and Escape change them. */
export interface GridSelection {
  has: (index: number) => boolean
  onToggle: (index: number) => void
  /** Called before Shift extends from a cell. */
  onStart: (index: number) => void
  onExtend: (index: number) => void
  onAll: () => void
  /** Returns false if nothing was selected. */
  onClear: () => boolean
}

/** Changes the selection by a key. @returns false if the key selects nothing */
export function selectByKey (selection: GridSelection, event: KeyboardEvent, active: number): boolean {
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() !== 'a') return false
    selection.onAll()
    return true
  }
  if (event.key === 'Escape') return selection.onClear()
  if (event.key === ' ') selection.onToggle(active)
  return event.key === ' '
}
