import { nameSortKey } from '../library/names.ts'
import type { ManualMetadata } from '../roms/entities.ts'
import { toMergeBase } from '../matching/merge-base.ts'
import { type MergedFields, type Priorities, isEmpty, mergeMatches } from '../matching/merge-matches.ts'
import type { LockableColumn } from '../roms/rom-columns.ts'
import type { LookupRom } from '../matching/stored-rows.ts'
import type { EditCall } from './edit-call.ts'
import type { EditedMatches } from './edited-matches.ts'

/** The values and field locks of a ROM after an edit. */
export interface EditedRom {
  merged: MergedFields
  own_fields: string[]
  manual_metadata: ManualMetadata | null
}

type FormValues = Partial<Record<LockableColumn, string | null>>

interface FormChanges {
  changed: FormValues
  /** Other values in the form, which equal the stored ones. */
  unchanged: FormValues
  /** Fields that are locked even if providers give the same value. */
  alwaysLocked: readonly LockableColumn[]
  unlocked: readonly string[]
}

const textOf = (value: string | null | undefined) => value ?? ''

/** Fields that an empty text unlocks. */
const UNLOCKED_BY_EMPTY_TEXT = ['name', 'name_sort_key'] as const

/** Returns the columns of a form, as stored. An empty address is ignored. */
function readTexts ({ texts }: Pick<EditCall, 'texts'>): FormValues {
  const { name, summary, name_sort_key: sortKey, url_cover: cover, url_manual: manual } = texts
  const formValues: [LockableColumn, string | undefined][] = [
    ['name', name?.trim()], ['summary', summary], ['name_sort_key', sortKey?.trim()],
    ['url_cover', isEmpty(cover?.trim()) ? undefined : cover?.trim()],
    ['url_manual', isEmpty(manual?.trim()) ? undefined : manual?.trim()]
  ]
  return Object.fromEntries(formValues.filter(([, text]) => text !== undefined))
}

function listChanges (rom: LookupRom, call: Pick<EditCall, 'texts' | 'cover'>): FormChanges {
  const { cover } = call
  const formValues = { ...readTexts(call), ...(cover === undefined ? {} : { url_cover: null }) }
  const unlocked = UNLOCKED_BY_EMPTY_TEXT.filter((name) => formValues[name] === '')
  const entries = (Object.entries(formValues) as [LockableColumn, string | null][])
    .filter(([name]) => !unlocked.some((one) => one === name))
  const isChanged = ([name, text]: [LockableColumn, string | null]) => textOf(text) !== textOf(rom[name])
  const changed: FormValues = Object.fromEntries(entries.filter((entry) =>
    isChanged(entry) || (entry[0] === 'url_cover' && cover !== undefined)))
  if (changed.name_sort_key !== undefined) changed.name_sort_key = nameSortKey(textOf(changed.name_sort_key))
  const hasCover = !isEmpty(rom.url_cover) || !isEmpty(rom.path_cover_large)
  const locksCover = cover !== undefined && (cover !== null || hasCover || rom.own_fields.includes('url_cover'))
  return {
    changed,
    unchanged: Object.fromEntries(entries.filter((entry) => entry[0] !== 'name_sort_key' && !isChanged(entry))),
    alwaysLocked: locksCover ? ['url_cover'] : [],
    unlocked
  }
}

/** Lists the locks on providers: their ids and their records. */
function listProviderLocks (rom: LookupRom, changedIds: readonly string[], records: readonly string[]): string[] {
  const former = rom.own_fields.filter((name) => !changedIds.some((key) => name === `raw_${key}_metadata`))
  return [...former, ...changedIds.map((key) => `${key}_id`), ...records.map((key) => `raw_${key}_metadata`)]
}

/**
 * Computes a ROM after an edit. A value that differs from the providers' becomes a field lock. A value that equals
 * theirs is not locked.
 *
 * @param edited the matches after the edit, and the providers whose id, and whose record, the call changes
 */
export function applyEdit (
  rom: LookupRom, edited: Pick<EditedMatches, 'matches' | 'ids' | 'records'>,
  call: Pick<EditCall, 'texts' | 'cover' | 'manual_metadata' | 'unlock'>, priorities: Priorities
): EditedRom {
  const { matches, ids, records } = edited
  const { changed, unchanged, alwaysLocked, unlocked } = listChanges(rom, call)
  const withoutLock = new Set([...unlocked, ...call.unlock, ...Object.keys(changed)])
  const losesLock = (name: string) => withoutLock.has(name)
  const manualInput = call.unlock.includes('manual_metadata') ? null : call.manual_metadata
  const manual = manualInput === undefined ? rom.manual_metadata ?? null : manualInput
  const rest: LookupRom = {
    ...rom, manual_metadata: manual, own_fields: rom.own_fields.filter((name) => !losesLock(name))
  }
  const base = toMergeBase(rest, false)
  const former = Object.fromEntries(Object.entries(base.former).filter(([name]) => !losesLock(name)))
  const fromProviders: Readonly<Record<string, unknown>> = mergeMatches(matches, { ...base, former }, priorities)
  const locked = Object.fromEntries(Object.entries(changed).filter(([name, value]) =>
    alwaysLocked.some((one) => one === name) || value !== fromProviders[name]))
  const mergeWithLocks = (more: object) =>
    mergeMatches(matches, { ...base, former, locked: { ...base.locked, ...locked, ...more } }, priorities)
  // A newly chosen game may have a claim on a field that the form leaves unchanged.
  const mergedFirst: Readonly<Record<string, unknown>> = mergeWithLocks({})
  const lockedAgain = Object.fromEntries(Object.entries(unchanged).filter(([name, value]) =>
    !losesLock(name) && textOf(value) !== textOf(mergedFirst[name] as string | null)))
  const merged = mergeWithLocks(lockedAgain)
  const providerLocks = listProviderLocks(rest, ids, records).filter((name) => !call.unlock.includes(name))
  const fieldLocks = new Set([...providerLocks, ...Object.keys(locked), ...Object.keys(lockedAgain)])
  return { merged, manual_metadata: manual, own_fields: [...fieldLocks].sort() }
}
