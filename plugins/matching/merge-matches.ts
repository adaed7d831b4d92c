import type { GameFields, Match, Media, MediaKind, ProviderDefinition } from '@svc/plugin-sdk'
import type { Config } from '../../core/config/config.ts'
import { type OrderedProvider, listPredecessors } from '../../core/loader/checks/provider-order.ts'
import { nameSortKey } from '../library/names.ts'
import type { GameValues, Rom, StoredMedia } from '../roms/entities.ts'
import { GAME_FIELDS, GAME_FIELD_NAMES, type GameFieldName, mapGameFields } from '../roms/game-fields.ts'
import type { RomColumnIn } from '../roms/rom-columns.ts'
import type { ProviderMatches } from './matches.ts'

type Claim = NonNullable<ProviderDefinition['claims']>[number]

/** The order of trust in providers, by field group. Providers that are not configured follow in load order. */
export interface Priorities {
  metadata: readonly string[]
  cover: readonly string[]
  screenshot: readonly string[]
  manual: readonly string[]
  media: readonly MediaKind[]
  /** Fields for which some providers precede all others and all former values. */
  claims: ReadonlyMap<string, readonly Claim[]>
  /** Number of providers that each provider waits for. */
  predecessorCounts: ReadonlyMap<string, number>
}

/** The fields that a merge writes. */
export type MergedFields = Pick<Rom, Exclude<RomColumnIn<'merge'>, 'is_identified' | GameFieldName>> & GameValues

/** Former values of a ROM, and values from its file name. */
export interface MergeBase {
  fs_name_no_tags: string
  regions: string[]
  languages: string[]
  /** The cover if no provider has one. */
  own_cover: string | null
  /** Values of a former match, which stay if set. */
  former: Partial<Pick<Rom, 'name' | 'summary' | 'url_cover' | 'url_screenshots' | 'url_manual' | 'media'>>
  /** Values that a person set, which nothing replaces. */
  locked: Partial<MergedFields>
}

/** @param providers the registered providers, in load order */
export function readPriorities (
  config: Config, providers: ReadonlyMap<string, { definition: OrderedProvider & Pick<ProviderDefinition, 'claims'> }>
): Priorities {
  const definitions = [...providers.values()].map(({ definition }) => definition)
  const { metadata, artwork, cover, screenshot, manual } = config.scan.priority
  const complete = (order: readonly string[]) => [...new Set([...order, ...providers.keys()])]
  const ofArtwork = (order: readonly string[] = artwork) => complete(order)
  return {
    metadata: complete(metadata),
    cover: ofArtwork(cover),
    screenshot: ofArtwork(screenshot),
    manual: ofArtwork(manual),
    media: config.scan.media,
    claims: new Map(definitions.flatMap(({ key, claims }) => claims === undefined ? [] : [[key, claims] as const])),
    predecessorCounts: new Map([...listPredecessors(definitions)].map(([key, before]) => [key, before.size]))
  }
}

export type RankedMatches = readonly (readonly [key: string, match: Match])[]

/**
 * Returns the matches, most trusted provider first. Skips providers that only give ids of others, because they have no
 * fields to merge.
 */
export function rank (matches: ProviderMatches, order: readonly string[]): RankedMatches {
  const entries = [...matches].flatMap(([key, found]) => 'id' in found ? [[key, found] as const] : [])
  const positions = new Map(order.map((key, index) => [key, index]))
  const positionOf = (key: string) => positions.get(key) ?? order.length
  return entries.sort(([a], [b]) => positionOf(a) - positionOf(b) || (a < b ? -1 : 1))
}

const matchesOf = (ranked: RankedMatches): Match[] => ranked.map(([, match]) => match)

export const isEmpty = (value: unknown) => value === undefined || value === null || value === '' ||
  (Array.isArray(value) && value.length === 0)

/** Returns the first value that is not empty. */
function pick<Name extends keyof GameFields> (
  matches: readonly Match[], name: Name, none: unknown = null
): NonNullable<GameFields[Name]> | null {
  for (const match of matches) {
    const value = match[name]
    if (!isEmpty(value) && value !== none) return value as NonNullable<GameFields[Name]>
  }
  return null
}

/** Returns a list without blanks and repeats, in its order. */
const withoutBlanks = (values: readonly string[] | null) =>
  [...new Set((values ?? []).map((value) => value.trim()).filter(Boolean))]

/** Rules that combine several numbers into one. */
const RULES = {
  mean: (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length,
  largest: (numbers: readonly number[]) => Math.max(...numbers)
}

/** Returns the stored value of one of the common fields. */
export function mergeField (name: GameFieldName, matches: readonly Match[]): unknown {
  const { merge, none } = GAME_FIELDS[name]
  if (merge === 'first') {
    const value = pick(matches, name, none) ?? none
    return Array.isArray(value) ? withoutBlanks(value) : value
  }
  const numbers = matches.map((match) => match[name]).filter((value) => typeof value === 'number')
  return numbers.length === 0 ? none : RULES[merge](numbers)
}

/** Allowed URL schemes. Any other, such as `javascript:`, would reach clients as a link to open. */
const FETCHABLE = /^(?:https?|file|folder):\/\//i

/** Returns the media of a kind from the first match that has any. */
export function mediaOf (matches: readonly Match[], kind: MediaKind): Media[] {
  for (const match of matches) {
    const found = match.media?.filter((media) => media.kind === kind && FETCHABLE.test(media.url))
    if (found !== undefined && found.length > 0) return found
  }
  return []
}

/** Kinds that are stored in separate columns. */
const COLUMN_KINDS: readonly MediaKind[] = ['cover', 'screenshot', 'manual', 'badge']

function pickMedia (ordered: readonly Match[], priorities: Priorities, before: Rom['media'] | undefined): Rom['media'] {
  const media: Partial<Record<MediaKind, StoredMedia>> = {}
  for (const kind of priorities.media) {
    if (COLUMN_KINDS.includes(kind)) continue
    const formerMedia = before?.[kind]
    const [found] = mediaOf(ordered, kind)
    if (found !== undefined) {
      media[kind] = { url: found.url, path: formerMedia?.url === found.url ? formerMedia.path : null }
    } else if (formerMedia !== undefined) media[kind] = formerMedia
  }
  return media
}

/** Returns the former name, unless it is only the file name, which a provider's name replaces. */
function chooseName (base: MergeBase): string | null {
  const { name } = base.former
  return isEmpty(name) || name === base.fs_name_no_tags ? null : name ?? null
}

/** Merges all matches into one record: each field from the first provider, in priority order, that has a value. */
export function mergeMatches (matches: ProviderMatches, base: MergeBase, priorities: Priorities): MergedFields {
  const { former } = base
  const countPredecessors = (key: string) => priorities.predecessorCounts.get(key) ?? 0
  // Among several providers with a claim, the one that was asked last comes first, because it knows the other matches.
  function rankClaims (order: readonly string[], claim: Claim): Match[] {
    const claiming = [...priorities.claims].flatMap(([key, claims]) => {
      const found = claims.includes(claim) ? matches.get(key) : undefined
      return found === undefined ? [] : [[key, found] as const]
    })
    return matchesOf(rank(new Map(claiming), order).toSorted(([a], [b]) => countPredecessors(b) - countPredecessors(a)))
  }
  const texts = matchesOf(rank(matches, priorities.metadata))

  /** Chooses the text of a provider with a claim, else the former text, else the first provider's. */
  function chooseText (field: 'name' | 'summary', before: string | null): string | null {
    return pick(rankClaims(priorities.metadata, field), field) ?? before ?? pick(texts, field)
  }
  function chooseUrls (kind: MediaKind, order: readonly string[], before: readonly string[]): readonly string[] {
    const own = mediaOf(rankClaims(order, 'media'), kind)
    if (own.length === 0 && before.length > 0) return before
    return (own.length > 0 ? own : mediaOf(matchesOf(rank(matches, order)), kind)).map((media) => media.url)
  }
  function chooseUrl (kind: MediaKind, order: readonly string[], before: string | null | undefined): string | null {
    return chooseUrls(kind, order, isEmpty(before) ? [] : [before ?? ''])[0] ?? null
  }

  const name = base.locked.name ?? chooseText('name', chooseName(base)) ?? base.fs_name_no_tags
  const named = rankClaims(priorities.metadata, 'name')
  const sortName = base.locked.name !== undefined ? null : pick(isEmpty(pick(named, 'name')) ? texts : named, 'sort_name')
  const own = rankClaims(priorities.cover, 'media')
  return {
    ...mapGameFields<GameFieldName, GameValues>(GAME_FIELD_NAMES, (field) => mergeField(field, texts)),
    // Providers fill only fields that the file name leaves open, because its tags describe this exact dump.
    ...base.regions.length > 0 && { regions: base.regions },
    ...base.languages.length > 0 && { languages: base.languages },
    name,
    name_sort_key: nameSortKey(sortName ?? name),
    summary: chooseText('summary', isEmpty(former.summary) ? null : former.summary ?? null),
    url_cover: chooseUrl('cover', priorities.cover, former.url_cover) ?? base.own_cover,
    url_screenshots: withoutBlanks(chooseUrls('screenshot', priorities.screenshot, former.url_screenshots ?? [])),
    url_manual: priorities.media.includes('manual') ? chooseUrl('manual', priorities.manual, former.url_manual) : former.url_manual ?? null,
    media: pickMedia([...own, ...matchesOf(rank(matches, priorities.cover))], priorities, former.media),
    ...base.locked
  }
}
