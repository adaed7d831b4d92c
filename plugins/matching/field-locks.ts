import type { Rom } from '../roms/entities.ts'
import { MANUAL_FIELDS } from '../roms/game-fields.ts'
import { LOCKABLE_COLUMNS, type LockableColumn } from '../roms/rom-columns.ts'
import { type MergedFields, isEmpty } from './merge-matches.ts'

const ID = /^(?<key>.+)_id$/
const RECORD = /^raw_(?<key>.+)_metadata$/

/** Returns a list without repeats, because each value of a ROM counts once; other values as they are. */
const withoutRepeats = (value: unknown): unknown => Array.isArray(value) ? [...new Set<unknown>(value)] : value

/** Returns the values that a person set for a ROM. */
export function readLockedValues (
  rom: Pick<Rom, LockableColumn | 'own_fields' | 'manual_metadata'>
): Partial<MergedFields> {
  const columns = LOCKABLE_COLUMNS.filter((name) => rom.own_fields.includes(name))
    .map((name) => [name, rom[name] ?? null])
  const manual = MANUAL_FIELDS.map((name) => [name, withoutRepeats(rom.manual_metadata?.[name])] as const)
    .filter(([, value]) => !isEmpty(value))
  return Object.fromEntries([...columns, ...manual]) as Partial<MergedFields>
}

/** Returns the providers whose game a person chose. A chosen provider without an id does not know the ROM. */
export const listLockedMatches = (ownFields: readonly string[]): Set<string> =>
  new Set(ownFields.flatMap((name) => ID.exec(name)?.groups?.key ?? []))

/** Returns the providers whose record a person wrote. */
export const listLockedRecords = (ownFields: readonly string[]): Set<string> =>
  new Set(ownFields.flatMap((name) => RECORD.exec(name)?.groups?.key ?? []))
