import { computed, signal } from '@preact/signals'

/** Loads the ids of a part of the list, from a cell to before another one. */
export type LoadIds = (from: number, end: number) => Promise<readonly number[]>

interface Selected {
  readonly ids: ReadonlySet<number>
  /** The cell from which Shift extends the selection. */
  readonly anchor: number | null
  /** The selection without the range that Shift or a drag made last. */
  readonly base: ReadonlySet<number>
}

const NOTHING: Selected = { ids: new Set(), anchor: null, base: new Set() }

/** Holds the selected ROMs of a list by their ids, so that a changed order keeps them. */
export function createSelection (loadIds: LoadIds) {
  const state = signal<Selected>(NOTHING)
  /** The number of the last range that was asked for; a slower former one is dropped. */
  let last = 0

  return {
    ids: computed(() => state.value.ids),
    has: (id: number): boolean => state.value.ids.has(id),

    /** Adds or removes one ROM, and extends later ranges from its cell. */
    toggle (index: number, id: number): void {
      last++
      const ids = new Set(state.value.ids)
      if (!ids.delete(id)) ids.add(id)
      state.value = { ids, base: ids, anchor: index }
    },

    /** Extends later ranges from a cell, without a change of the selection. */
    startAt (index: number): void {
      state.value = { ...state.value, base: state.value.ids, anchor: index }
    },

    /** Selects everything from the anchor to a cell. The former range of the same anchor goes. */
    async extend (index: number): Promise<void> {
      const { anchor, base } = state.value
      const from = anchor ?? index
      const number = ++last
      const range = await loadIds(Math.min(from, index), Math.max(from, index) + 1)
      if (number === last) state.value = { ids: new Set([...base, ...range]), base, anchor: from }
    },

    async selectAll (count: number): Promise<void> {
      const number = ++last
      const ids = new Set(await loadIds(0, count))
      if (number === last) state.value = { ids, base: ids, anchor: null }
    },

    /** Removes ROMs that were deleted, or left the list. */
    drop (gone: readonly number[]): void {
      if (!gone.some((id) => state.value.ids.has(id))) return
      const ids = new Set(state.value.ids)
      for (const id of gone) ids.delete(id)
      state.value = { ...state.value, ids, base: ids }
    },

    clear (): void {
      last++
      state.value = NOTHING
    }
  }
}
export type Selection = ReturnType<typeof createSelection>
