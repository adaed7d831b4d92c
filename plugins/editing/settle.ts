import { isDeepStrictEqual } from 'node:util'
import { nameSortKey } from '../library/names.ts'
import type { ManualMetadata } from '../roms/entities.ts'
import type { Founds } from '../scans/identify/findings.ts'
import { toMergeBase } from '../scans/identify/merge-base.ts'
import { type MergedFields, type Priorities, isEmpty, mergeMatches } from '../scans/identify/merge.ts'
import type { OwnColumn } from '../scans/identify/own-values.ts'
import type { LookupRom } from '../scans/identify/stored-rows.ts'
import type { EditCall } from './edit-call.ts'

/** A ROM after an edit. */
export interface Settled {
  merged: MergedFields
  own_fields: string[]
  manual_metadata: ManualMetadata | null
}

type Given = Partial<Record<OwnColumn, string | null>>

interface Changes {
  given: Given
  /** Those of them that are a person's also where sources say the same. */
  forced: readonly OwnColumn[]
  released: readonly string[]
}

const isSame = (a: string | null | undefined, b: string | null | undefined) => (a ?? '') === (b ?? '')

/** Which texts a call really changes. An empty name and sort key are given back; empty addresses change nothing. */
function listChanges (rom: LookupRom, { texts, cover }: Pick<EditCall, 'texts' | 'cover'>): Changes {
  const given: Given = {}
  const forced: OwnColumn[] = []
  const released: string[] = []
  const { name, summary, name_sort_key: sortKey, url_cover: urlCover, url_manual: urlManual } = texts
  if (name?.trim() === '') released.push('name')
  else if (name !== undefined && !isSame(name.trim(), rom.name)) given.name = name.trim()
  if (summary !== undefined && !isSame(summary, rom.summary)) given.summary = summary
  if (sortKey?.trim() === '') released.push('name_sort_key')
  else if (sortKey !== undefined && !isSame(sortKey.trim(), rom.name_sort_key)) given.name_sort_key = nameSortKey(sortKey)
  if (!isEmpty(urlManual?.trim()) && !isSame(urlManual?.trim(), rom.url_manual)) given.url_manual = urlManual?.trim() ?? null
  if (cover !== undefined) {
    given.url_cover = null
    if (cover !== null || !isEmpty(rom.url_cover) || !isEmpty(rom.path_cover_large)) forced.push('url_cover')
  } else if (!isEmpty(urlCover?.trim()) && !isSame(urlCover?.trim(), rom.url_cover)) {
    given.url_cover = urlCover?.trim() ?? null
  }
  return { given, forced, released }
}

/** What was set for providers: their ids, and their records. */
function listOwnSources (rom: LookupRom, changedIds: readonly string[], records: readonly string[]): string[] {
  const former = rom.own_fields.filter((name) => !changedIds.some((key) => name === `raw_${key}_metadata`))
  return [...former, ...changedIds.map((key) => `${key}_id`), ...records.map((key) => `raw_${key}_metadata`)]
}

/**
 * What becomes of a ROM. A value that differs from what the sources say is the person's own from now on; one that they
 * say as well is theirs.
 *
 * @param founds what providers say of it by now
 * @param sources the providers whose game, and whose record, the call changes
 */
export function settle (
  rom: LookupRom, founds: Founds, call: Pick<EditCall, 'texts' | 'cover' | 'manual_metadata' | 'unlock'>,
  sources: { ids: readonly string[], records: readonly string[] }, priorities: Priorities
): Settled {
  const { given, forced, released } = listChanges(rom, call)
  const freed = new Set([...released, ...call.unlock, ...Object.keys(given)])
  const isFreed = (name: string) => freed.has(name)
  const manual = call.unlock.includes('manual_metadata') ? null : call.manual_metadata ?? (call.manual_metadata === null ? null : rom.manual_metadata ?? null)
  const rest: LookupRom = {
    ...rom, manual_metadata: manual, own_fields: rom.own_fields.filter((name) => !isFreed(name))
  }
  const base = toMergeBase(rest, false)
  const kept = Object.fromEntries(Object.entries(base.kept).filter(([name]) => !isFreed(name)))
  const offered: Readonly<Record<string, unknown>> = mergeMatches(founds, { ...base, kept }, priorities)
  const own = Object.fromEntries(Object.entries(given).filter(([name, value]) =>
    forced.some((one) => one === name) || !isDeepStrictEqual(value, offered[name])))
  const merged = mergeMatches(founds, { ...base, kept, own: { ...base.own, ...own } }, priorities)
  const ownSources = listOwnSources(rest, sources.ids, sources.records).filter((name) => !call.unlock.includes(name))
  return { merged, manual_metadata: manual, own_fields: [...new Set([...ownSources, ...Object.keys(own)])].sort() }
}
