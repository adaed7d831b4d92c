import type { LinkMatch, Match, ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import { knowsGames } from '../plugins/providers.ts'
import type { ScanType } from './scan-types.ts'

/** An id that others gave of a provider that was not asked by it: the provider itself said nothing yet. */
export type LinkedMatch = Match & { is_linked: true }
/** What a provider says about a ROM; one that gives ids of others only has none of its own. */
export type ProviderMatch = Match | LinkMatch | LinkedMatch
export type ProviderMatches = ReadonlyMap<string, ProviderMatch>

/** How asking a provider about a ROM ended. */
export type LookupResult =
  { kind: 'match', match: ProviderMatch } |
  /** It surely does not know the ROM. */
  { kind: 'miss' } |
  /** It was not asked, since others found the ROM or did not. */
  { kind: 'passed' } |
  { kind: 'failed' }

/** What is kept of a ROM's lookups. */
export interface LookupConclusion {
  all: Map<string, ProviderMatch>
  /** Those that are new. */
  found: Map<string, ProviderMatch>
  /** Providers whose stored match is dropped. */
  dropped: string[]
}

/** The provider's own id of the game; null for one that gives ids of others only. */
export const idOf = (found: ProviderMatch): ProviderId | null => 'id' in found ? found.id : null

export const isLinked = (found: ProviderMatch): found is LinkedMatch => 'is_linked' in found

const linksOf = (found: ProviderMatch) => 'ids' in found ? Object.entries(found.ids ?? {}) : []

/** What providers said themselves. */
export const withoutLinked = (founds: ProviderMatches): Map<string, ProviderMatch> =>
  new Map([...founds].filter(([, found]) => !isLinked(found)))

/** Whether one of these makes a ROM identified; of a provider that is gone, whether it had an id for it. */
export function isIdentified (
  founds: ProviderMatches, providers: ReadonlyMap<string, { definition: Pick<ProviderDefinition, 'kind'> }>
): boolean {
  return [...withoutLinked(founds)].some(([key, found]) =>
    idOf(found) !== null && knowsGames(providers.get(key)?.definition ?? {}))
}

/** A match without a score is certain. */
const scoreOf = (found: ProviderMatch) => isLinked(found) ? 1 : found.score ?? 1

/**
 * One ROM's findings, which come in one by one, beside those stored before. A scan from scratch trusts nothing that is
 * stored; any other keeps the surer of two matches.
 *
 * @param isIdOf whether a provider is known, and an id one of its kind
 * @param held providers whose game a person chose: another one is not taken from them
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

  /** What is held true of a ROM by one provider. */
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

  /** Ids of providers that have not said themselves what they know, or that they know nothing. */
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

    /** What these providers say by now, and all others said before. */
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
