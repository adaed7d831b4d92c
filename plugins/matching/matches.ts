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
export interface LookupConclusion {
  all: Map<string, ProviderMatch>
  /** New matches only. */
  found: Map<string, ProviderMatch>
  /** Providers whose stored match is deleted. */
  dropped: string[]
}

/** Returns the provider's own id of the game; null for a provider that only gives ids of others. */
export const idOf = (found: ProviderMatch): ProviderId | null => 'id' in found ? found.id : null

export const isLinked = (found: ProviderMatch): found is LinkedMatch => 'is_linked' in found

const linksOf = (found: ProviderMatch) => 'ids' in found ? Object.entries(found.ids ?? {}) : []

/** Returns the matches that come from their own provider. */
export const withoutLinked = (founds: ProviderMatches): Map<string, ProviderMatch> =>
  new Map([...founds].filter(([, found]) => !isLinked(found)))

/** True if one of these matches identifies the ROM. For a provider that is not installed, an id is enough. */
export function isIdentified (
  founds: ProviderMatches, providers: ReadonlyMap<string, { definition: Pick<ProviderDefinition, 'kind'> }>
): boolean {
  return [...withoutLinked(founds)].some(([key, found]) =>
    idOf(found) !== null && knowsGames(providers.get(key)?.definition ?? {}))
}

/** Returns the score; a match without a score is certain. */
const scoreOf = (found: ProviderMatch) => isLinked(found) ? 1 : found.score ?? 1

/**
 * Collects the matches of one ROM as they arrive, and compares them with stored matches. A complete scan ignores stored
 * matches. Any other scan keeps the match with the higher score.
 *
 * @param isIdOf true if the provider is known and the id has its type
 * @param held providers whose game a person chose; another game from them is ignored
 */
export function createMatchUpdates (
  type: ScanType, known: ProviderMatches, isIdOf: (key: string, id: ProviderId) => boolean = () => false,
  held: ReadonlySet<string> = new Set()
) {
  const stored = withoutLinked(known)
  const isFresh = type === 'complete'
  const trusted = isFresh ? new Map([...stored].filter(([key]) => held.has(key))) : stored
  const refutes = isFresh || type === 'hashes'
  const said = new Map<string, LookupResult>()

  const chosenId = (key: string) => {
    const found = stored.get(key)
    return found === undefined ? null : idOf(found)
  }
  const replaces = (match: ProviderMatch, key: string) => {
    const before = stored.get(key)
    return isFresh || held.has(key) || before === undefined || scoreOf(match) >= scoreOf(before)
  }

  /** Returns the current match of a ROM at one provider. */
  function believe (key: string): ProviderMatch | undefined {
    const before = trusted.get(key)
    const last = said.get(key)
    if (last?.kind === 'match') return replaces(last.match, key) ? last.match : before
    return last?.kind === 'miss' && refutes ? undefined : before
  }

  function isDropped (key: string, isSelected: boolean): boolean {
    const kind = said.get(key)?.kind
    if (held.has(key)) return false
    if (isFresh && (!isSelected || kind === 'passed')) return true
    return kind === 'miss' && refutes
  }

  /** Lists linked ids of providers that have neither a match nor a miss. */
  function listLinked (founds: ProviderMatches): Map<string, LinkedMatch> {
    const linked = new Map<string, LinkedMatch>()
    for (const [key, id] of [...founds.values()].flatMap(linksOf)) {
      const isTold = founds.has(key) || linked.has(key) || held.has(key) || said.get(key)?.kind === 'miss'
      if (id !== undefined && !isTold && isIdOf(key, id)) linked.set(key, { id, is_linked: true })
    }
    return linked
  }

  return {
    say (key: string, what: LookupResult): void {
      const isOther = what.kind !== 'match' || idOf(what.match) !== chosenId(key)
      if (!held.has(key) || what.kind === 'failed' || !isOther) said.set(key, what)
    },

    /** Returns the new matches of these providers, and the former matches of all others. */
    before (keys: ReadonlySet<string>): Map<string, ProviderMatch> {
      const believed = new Map(trusted)
      for (const key of keys) {
        const found = believe(key)
        if (found === undefined) believed.delete(key)
        else believed.set(key, found)
      }
      return believed
    },

    get failures (): number { return [...said.values()].filter(({ kind }) => kind === 'failed').length },

    conclude (selected: readonly string[]): LookupConclusion {
      const found = new Map([...said].flatMap(([key, what]) =>
        what.kind === 'match' && replaces(what.match, key) ? [[key, what.match] as const] : []))
      const refuted = [...stored.keys()].filter((key) => isDropped(key, selected.includes(key)))
      const kept = [...stored].filter(([key]) => !refuted.includes(key))
      const own = new Map([...kept, ...found])
      const linked = listLinked(own)
      const outdated = [...known.keys()].filter((key) => !own.has(key) && !linked.has(key))
      const news = [...linked].filter(([key, { id }]) => {
        const before = known.get(key)
        return before === undefined || !isLinked(before) || before.id !== id
      })
      return { all: new Map([...own, ...linked]), found: new Map([...found, ...news]), dropped: outdated }
    }
  }
}
export type MatchUpdates = ReturnType<typeof createMatchUpdates>
