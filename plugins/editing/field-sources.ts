import { isDeepStrictEqual } from 'node:util'
import type { Match, MediaKind } from '@svc/plugin-sdk'
import type { ProviderMatches } from '../matching/matches.ts'
import { type Priorities, type RankedMatches, isEmpty, mediaOf, mergeField, rank } from '../matching/merge-matches.ts'
import type { Rom, StoredMedia } from '../roms/entities.ts'
import type { RomColumnIn } from '../roms/rom-columns.ts'
import { GAME_FIELDS, GAME_FIELD_NAMES, type GameFieldName } from '../roms/game-fields.ts'

const TEXTS = ['name', 'summary'] as const

/** The values of a ROM that may come from a provider. */
export type SourcedRom = Pick<Rom, RomColumnIn<'sourced'>>

/** The keys of the providers of each value. */
export interface FieldSources { fields: Record<string, string[]>, media: Record<string, string[]> }

const keysOf = (ranked: RankedMatches) => ranked.map(([key]) => key)

const findFirst = (ranked: RankedMatches, hasField: (match: Match) => boolean) =>
  keysOf(ranked.filter(([, match]) => hasField(match)).slice(0, 1))

/** Moves providers with a claim to the front; the order is otherwise unchanged. */
function rankClaims (ranked: RankedMatches, claim: typeof TEXTS[number] | 'media', { claims }: Priorities): RankedMatches {
  const claiming = ranked.filter(([key]) => claims.get(key)?.includes(claim) === true)
  return [...new Set([...claiming, ...ranked])]
}

function listGivers (name: GameFieldName, value: unknown, ranked: RankedMatches): string[] {
  const { merge } = GAME_FIELDS[name]
  if (merge === 'first') return findFirst(ranked, (match) => isDeepStrictEqual(mergeField(name, [match]), value))
  return keysOf(ranked.filter(([, match]) => merge === 'mean' ? typeof match[name] === 'number' : match[name] === value))
}

/** Lists the addresses of the shown media, by kind. */
function listUrls ({ url_cover: cover, url_manual: manual, url_screenshots: screenshots, media }: SourcedRom) {
  const single = (url: string | null | undefined) => isEmpty(url) ? [] : [url ?? '']
  const stored = Object.entries(media) as [MediaKind, StoredMedia][]
  const all: [MediaKind, string[]][] = [
    ['cover', single(cover)], ['screenshot', screenshots], ['manual', single(manual)],
    ...stored.map(([kind, { url }]): [MediaKind, string[]] => [kind, [url]])
  ]
  return all.filter(([, urls]) => urls.length > 0)
}

function listProvidersOf (
  kind: MediaKind, urls: readonly string[], matches: ProviderMatches, priorities: Priorities
): string[] {
  const { cover, screenshot, manual } = priorities
  const orders: Partial<Record<MediaKind, readonly string[]>> = { screenshot, manual }
  return findFirst(rankClaims(rank(matches, orders[kind] ?? cover), 'media', priorities), (match) => {
    const mediaUrls = new Set(mediaOf([match], kind).map(({ url }) => url))
    return urls.every((url) => mediaUrls.has(url))
  })
}

/**
 * Returns the providers of a ROM's values, by the rules of the merge and the stored matches. A value from an earlier
 * scan, the file name or a person has no provider.
 */
export function listFieldSources (rom: SourcedRom, matches: ProviderMatches, priorities: Priorities): FieldSources {
  const ranked = rank(matches, priorities.metadata)
  const isSet = (name: GameFieldName) => !isEmpty(rom[name]) && rom[name] !== GAME_FIELDS[name].none
  const fields: [string, string[]][] = [
    ...TEXTS.filter((name) => !isEmpty(rom[name])).map((name): [string, string[]] =>
      [name, findFirst(rankClaims(ranked, name, priorities), (match) => match[name] === rom[name])]),
    ...GAME_FIELD_NAMES.filter(isSet).map((name): [string, string[]] => [name, listGivers(name, rom[name], ranked)])
  ]
  return {
    fields: Object.fromEntries(fields),
    media: Object.fromEntries(
      listUrls(rom).map(([kind, urls]) => [kind, listProvidersOf(kind, urls, matches, priorities)])
    )
  }
}
