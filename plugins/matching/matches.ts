import type { LinkMatch, Match, ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import { knowsGames } from '../plugins/providers.ts'
import type { ScanType } from './scan-types.ts'

/** An id of one provider that other providers gave. The provider itself has not been asked about this id. */
export type LinkedMatch = Match & { is_linked: true }
/** The match of a ROM at a provider. A provider that only gives ids of others has no id of its own. */
export type ProviderMatch = Match | LinkMatch | LinkedMatch
export type ProviderMatches = ReadonlyMap<string, ProviderMatch>

/** The result of one lookup. */
export type LookupResult =
  { kind: 'match', match: ProviderMatch } |
  /** The provider certainly does not know the ROM. */
  { kind: 'miss' } |
  /** The provider was skipped: it only looks up ROMs that others identified, or only ROMs that they did not. */
  { kind: 'passed' } |
  { kind: 'failed' }

/** The result of all lookups of a ROM. */
export interface LookupSummary {
  matches: Map<string, ProviderMatch>
  /** New matches only. */
  newMatches: Map<string, ProviderMatch>
  /** Providers whose stored match is deleted. */
  dropped: string[]
}

/** Returns the provider's own id of the game; null for a provider that only gives ids of others. */
export const idOf = (match: ProviderMatch): ProviderId | null => 'id' in match ? match.id : null

const isLinked = (match: ProviderMatch): match is LinkedMatch => 'is_linked' in match

const linksOf = (match: ProviderMatch) => 'ids' in match ? Object.entries(match.ids ?? {}) : []

/** Returns the matches that come from their own provider. */
export const withoutLinked = (matches: ProviderMatches): Map<string, ProviderMatch> =>
  new Map([...matches].filter(([, match]) => !isLinked(match)))

/** True if one of these matches identifies the ROM. For a provider that is not installed, an id is enough. */
export function isIdentified (
  matches: ProviderMatches, providers: ReadonlyMap<string, { definition: Pick<ProviderDefinition, 'kind'> }>
): boolean {
  return [...withoutLinked(matches)].some(([key, match]) =>
    idOf(match) !== null && knowsGames(providers.get(key)?.definition ?? {}))
}

/** Returns the score; a match without a score is certain. */
const scoreOf = (match: ProviderMatch) => isLinked(match) ? 1 : match.score ?? 1

/**
 * Collects the matches of one ROM as they arrive, and compares them with stored matches. A complete scan ignores stored
 * matches. Any other scan keeps the match with the higher score.
 *
 * @param isIdOf true if the provider is known and the id has its type
 * @param locked providers whose game a person chose; another game from them is ignored
 */
export function createMatchUpdates (
  type: ScanType, formerMatches: ProviderMatches, isIdOf: (key: string, id: ProviderId) => boolean = () => false,
  locked: ReadonlySet<string> = new Set()
) {
  const stored = withoutLinked(formerMatches)
  const isFresh = type === 'complete'
  const trusted = isFresh ? new Map([...stored].filter(([key]) => locked.has(key))) : stored
  const dropsMisses = isFresh || type === 'hashes'
  const results = new Map<string, LookupResult>()

  const storedIdOf = (key: string) => {
    const match = stored.get(key)
    return match === undefined ? null : idOf(match)
  }
  const replaces = (match: ProviderMatch, key: string) => {
    const before = stored.get(key)
    return isFresh || locked.has(key) || before === undefined || scoreOf(match) >= scoreOf(before)
  }

  /** Returns the current match of a ROM at one provider. */
  function currentMatch (key: string): ProviderMatch | undefined {
    const before = trusted.get(key)
    const last = results.get(key)
    if (last?.kind === 'match') return replaces(last.match, key) ? last.match : before
    return last?.kind === 'miss' && dropsMisses ? undefined : before
  }

  function isDropped (key: string, isSelected: boolean): boolean {
    const kind = results.get(key)?.kind
    if (locked.has(key)) return false
    if (isFresh && (!isSelected || kind === 'passed')) return true
    return kind === 'miss' && dropsMisses
  }

  /**
   * Lists linked ids of providers that have neither a match nor a miss. If two providers link to different games, the
   * first selected one counts, because the order in which they answered is accidental.
   */
  function listLinked (matches: ProviderMatches, selected: readonly string[]): Map<string, LinkedMatch> {
    const linked = new Map<string, LinkedMatch>()
    const keys = new Set([...selected.filter((key) => matches.has(key)), ...[...matches.keys()].sort()])
    for (const [key, id] of [...keys].flatMap((from) => matches.get(from) ?? []).flatMap(linksOf)) {
      const isCovered = matches.has(key) || linked.has(key) || locked.has(key) || results.get(key)?.kind === 'miss'
      if (id !== undefined && !isCovered && isIdOf(key, id)) linked.set(key, { id, is_linked: true })
    }
    return linked
  }

  return {
    recordResult (key: string, result: LookupResult): void {
      const isOther = result.kind !== 'match' || idOf(result.match) !== storedIdOf(key)
      if (!locked.has(key) || result.kind === 'failed' || !isOther) results.set(key, result)
    },

    /** Returns the new matches of these providers, and the former matches of all others. */
    matchesBefore (keys: ReadonlySet<string>): Map<string, ProviderMatch> {
      const matches = new Map(trusted)
      for (const key of keys) {
        const match = currentMatch(key)
        if (match === undefined) matches.delete(key)
        else matches.set(key, match)
      }
      return matches
    },

    get failures (): number { return [...results.values()].filter(({ kind }) => kind === 'failed').length },

    finish (selected: readonly string[]): LookupSummary {
      const newMatches = new Map([...results].flatMap(([key, result]) =>
        result.kind === 'match' && replaces(result.match, key) ? [[key, result.match] as const] : []))
      const dropped = [...stored.keys()].filter((key) => isDropped(key, selected.includes(key)))
      const remaining = [...stored].filter(([key]) => !dropped.includes(key))
      const ownMatches = new Map([...remaining, ...newMatches])
      const linked = listLinked(ownMatches, selected)
      const droppedKeys = [...formerMatches.keys()].filter((key) => !ownMatches.has(key) && !linked.has(key))
      const newLinks = [...linked].filter(([key, { id }]) => {
        const before = formerMatches.get(key)
        return before === undefined || !isLinked(before) || before.id !== id
      })
      return {
        matches: new Map([...ownMatches, ...linked]),
        newMatches: new Map([...newMatches, ...newLinks]),
        dropped: droppedKeys
      }
    }
  }
}
export type MatchUpdates = ReturnType<typeof createMatchUpdates>
