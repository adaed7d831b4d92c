import { isDeepStrictEqual } from 'node:util'
import type { Match, ProviderId } from '@svc/plugin-sdk'
import { type ProviderMatch, type ProviderMatches, idOf } from '../matching/matches.ts'
import { type MatchExplanation, explainChoice } from '../matching/match-explanation.ts'
import type { RomForLookup } from '../matching/rom-for-lookup.ts'
import type { EditCall } from './edit-call.ts'
import { readRecordFields } from './record-fields.ts'

/** The matches of a ROM after an edit. */
export interface EditedMatches {
  /** All matches. */
  matches: ProviderMatches
  newMatches: ReadonlyMap<string, ProviderMatch>
  /** Providers whose match is deleted. */
  dropped: readonly string[]
  /** Providers whose id the person chose. */
  ids: readonly string[]
  /** Providers whose record the person wrote. */
  records: readonly string[]
}

/** Checks the record of a provider that a person wrote. @throws ApiError INVALID with the wrong part */
export type CheckRecord = (key: string, record: Record<string, unknown>) => void

/** Loads the game with an id at a provider. */
export type FindGame = (key: string, id: ProviderId) => Promise<ProviderMatch>

/** Returns the stored id of a ROM at a provider; null for none. */
export function storedIdOf ({ stored }: Pick<RomForLookup, 'stored'>, key: string): ProviderId | null {
  const match = stored.get(key)
  return match === undefined ? null : idOf(match)
}

/** Returns a record as its provider gave it, because views add the paths of stored files. */
const withoutPaths = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !name.endsWith('_path')))

async function readGames (rom: RomForLookup, ids: EditCall['ids'], findGame: FindGame) {
  const changed = Object.entries(ids).filter(([key, id]) => String(id ?? '') !== String(storedIdOf(rom, key) ?? ''))
  const chosen = changed.flatMap(([key, id]) => id === null ? [] : [[key, id] as const])
  const found = await Promise.all(chosen.map(async ([key, id]) => [key, await findGame(key, id)] as const))
  const dropped = changed.flatMap(([key, id]) => id === null ? [key] : [])
  return { changed: changed.map(([key]) => key), found: new Map(found), dropped }
}

/**
 * Replaces the records of matches. A record applies if its provider has an id and did not just return a record itself.
 *
 * @returns the providers whose record was replaced
 * @throws ApiError INVALID for a record that contradicts the schema of its provider
 */
function applyRecords (
  all: Map<string, ProviderMatch>, newMatches: Map<string, ProviderMatch>, records: EditCall['records'], check: CheckRecord
): string[] {
  return Object.entries(records).flatMap(([key, record]) => {
    const before = all.get(key)
    if (before === undefined || idOf(before) === null || !('id' in before)) return []
    const { metadata } = before as Match
    if (newMatches.has(key) && metadata !== undefined) return []
    if (isDeepStrictEqual(withoutPaths(metadata ?? {}), withoutPaths(record))) return []
    check(key, withoutPaths(record))
    const match: Match = { ...before, ...readRecordFields(record), metadata: withoutPaths(record) }
    all.set(key, match)
    newMatches.set(key, match)
    return [key]
  })
}

/** Returns the matches of a ROM with the ids and records of an edit. @throws ApiError INVALID for a wrong record */
export async function readEditedMatches (
  rom: RomForLookup, call: EditCall, findGame: FindGame, check: CheckRecord
): Promise<EditedMatches> {
  const { changed, found, dropped } = await readGames(rom, call.ids, findGame)
  const all = new Map([...rom.stored, ...found])
  for (const key of dropped) all.delete(key)
  const records = applyRecords(all, found, call.records, check)
  return { matches: all, newMatches: found, dropped, ids: changed, records }
}

/** Explains the matches whose id a person chose. A record that a person wrote changes no id. */
export function explainChoices (
  { rom, platform }: RomForLookup, { newMatches, ids }: EditedMatches
): Map<string, MatchExplanation> {
  const subject = { name: rom.fs_name_no_tags, platform: platform.slug, at: new Date() }
  return new Map(ids.flatMap((key) => {
    const match = newMatches.get(key)
    const id = match === undefined ? null : idOf(match)
    return id === null ? [] : [[key, explainChoice(subject, id)] as const]
  }))
}
