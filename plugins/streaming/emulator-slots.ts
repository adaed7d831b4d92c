/** The highest slot of any emulator. */
export const SLOT_MAX = 10

export interface Slots {
  /** Users choose a slot from 1 to this number. */
  max_slots: number
  /** 0 for none. */
  autosave_slot: number
}

const NONE: Slots = { max_slots: 0, autosave_slot: 0 }
const DOLPHIN: Slots = { max_slots: 7, autosave_slot: 8 }
const TEN: Slots = { max_slots: 9, autosave_slot: 10 }
const BY_PLATFORM: Readonly<Record<string, Slots>> = { ngc: DOLPHIN, wii: DOLPHIN, wiiu: DOLPHIN, ps2: TEN, xbox: TEN }

/** Returns the slots that emulators of a platform have by default. */
export const slotsOf = (platform: string): Slots => BY_PLATFORM[platform] ?? NONE

/** True if a slot can be saved to and loaded from. */
export const hasSlot = ({ max_slots: max, autosave_slot: autosave }: Slots, slot: number): boolean =>
  (slot >= 1 && slot <= max) || (slot !== 0 && slot === autosave)
