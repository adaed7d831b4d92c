import { nameSortKey } from '../library/names.ts'
import type { ManualMetadata } from '../roms/entities.ts'
import type { ProviderMatches } from '../matching/matches.ts'
import { toMergeBase } from '../matching/merge-base.ts'
import { type MergedFields, type Priorities, isEmpty, mergeMatches } from '../matching/merge-matches.ts'
import type { LockableColumn } from '../matching/field-locks.ts'
import type { LookupRom } from '../matching/stored-rows.ts'
import type { EditCall } from './edit-call.ts'

/** The values and field locks of a ROM after an edit. */
export interface EditedRom {
  merged: MergedFields
  own_fields: string[]
  manual_metadata: ManualMetadata | null
}

type Given = Partial<Record<LockableColumn, string | null>>

interface Changes {
  given: Given
  /** Other values in the form, which equal the stored ones. */
  confirmed: Given
  /** Fields that are locked even if providers give the same value. */
  forced: readonly LockableColumn[]
  released: readonly string[]
}

const textOf = (value: string | null | undefined) => value ?? ''

/** Fields that an empty text unlocks. */
const GIVEN_BACK = ['name', 'name_sort_key'] as const

/** Returns the columns of a form, as stored. An empty address is ignored. */
function readTexts ({ texts }: Pick<EditCall, 'texts'>): Given {
  const { name, summary, name_sort_key: sortKey, url_cover: cover, url_manual: manual } = texts
  const said: [LockableColumn, string | undefined][] = [
    ['name', name?.trim()], ['summary', summary], ['name_sort_key', sortKey?.trim()],
    ['url_cover', isEmpty(cover?.trim()) ? undefined : cover?.trim()],
    ['url_manual', isEmpty(manual?.trim()) ? undefined : manual?.trim()]
  ]
  return Object.fromEntries(said.filter(([, text]) => text !== undefined))
}

function listChanges (rom: LookupRom, call: Pick<EditCall, 'texts' | 'cover'>): Changes {
  const { cover } = call
  const said = { ...readTexts(call), ...(cover === undefined ? {} : { url_cover: null }) }
  const released = GIVEN_BACK.filter((name) => said[name] === '')
  const entries = (Object.entries(said) as [LockableColumn, string | null][])
    .filter(([name]) => !released.some((one) => one === name))
  const isChanged = ([name, text]: [LockableColumn, string | null]) => textOf(text) !== textOf(rom[name])
  const given: Given = Object.fromEntries(entries.filter((entry) =>
    isChanged(entry) || (entry[0] === 'url_cover' && cover !== undefined)))
  if (given.name_sort_key !== undefined) given.name_sort_key = nameSortKey(textOf(given.name_sort_key))
  const hasCover = !isEmpty(rom.url_cover) || !isEmpty(rom.path_cover_large)
  const isOwnCover = cover !== undefined && (cover !== null || hasCover || rom.own_fields.includes('url_cover'))
  return {
    given,
    confirmed: Object.fromEntries(entries.filter((entry) => entry[0] !== 'name_sort_key' && !isChanged(entry))),
    forced: isOwnCover ? ['url_cover'] : [],
    released
  }
}

/** Lists the locks on providers: their ids and their records. */
function listOwnSources (rom: LookupRom, changedIds: readonly string[], records: readonly string[]): string[] {
  const former = rom.own_fields.filter((name) => !changedIds.some((key) => name === `raw_${key}_metadata`))
  return [...former, ...changedIds.map((key) => `${key}_id`), ...records.map((key) => `raw_${key}_metadata`)]
}

/**
 * Computes a ROM after an edit. A value that differs from the providers' becomes a field lock. A value that equals
 * theirs is not locked.
 *
 * @param founds the current matches
 * @param sources the providers whose id, and whose record, the call changes
 */
export function applyEdit (
  rom: LookupRom, founds: ProviderMatches, call: Pick<EditCall, 'texts' | 'cover' | 'manual_metadata' | 'unlock'>,
  sources: { ids: readonly string[], records: readonly string[] }, priorities: Priorities
): EditedRom {
  const { given, confirmed, forced, released } = listChanges(rom, call)
  const freed = new Set([...released, ...call.unlock, ...Object.keys(given)])
  const isFreed = (name: string) => freed.has(name)
  const told = call.unlock.includes('manual_metadata') ? null : call.manual_metadata
  const manual = told === undefined ? rom.manual_metadata ?? null : told
  const rest: LookupRom = {
    ...rom, manual_metadata: manual, own_fields: rom.own_fields.filter((name) => !isFreed(name))
  }
  const base = toMergeBase(rest, false)
  const kept = Object.fromEntries(Object.entries(base.kept).filter(([name]) => !isFreed(name)))
  const offered: Readonly<Record<string, unknown>> = mergeMatches(founds, { ...base, kept }, priorities)
  const own = Object.fromEntries(Object.entries(given).filter(([name, value]) =>
    forced.some((one) => one === name) || value !== offered[name]))
  const mergeWith = (more: object) =>
    mergeMatches(founds, { ...base, kept, own: { ...base.own, ...own, ...more } }, priorities)
  // A newly chosen game may have a claim on a field that the form leaves unchanged.
  const first: Readonly<Record<string, unknown>> = mergeWith({})
  const held = Object.fromEntries(Object.entries(confirmed).filter(([name, value]) =>
    !isFreed(name) && textOf(value) !== textOf(first[name] as string | null)))
  const merged = mergeWith(held)
  const ownSources = listOwnSources(rest, sources.ids, sources.records).filter((name) => !call.unlock.includes(name))
  const ownFields = new Set([...ownSources, ...Object.keys(own), ...Object.keys(held)])
  return { merged, manual_metadata: manual, own_fields: [...ownFields].sort() }
}
