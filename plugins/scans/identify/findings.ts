import type { LinkMatch, Match, ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import { knowsGames } from '../../plugins/providers.ts'
import type { ScanType } from '../scan-types.ts'

/** What a provider says about a ROM; one that gives ids of others only has none of its own. */
export type Found = Match | LinkMatch
export type Founds = ReadonlyMap<string, Found>

/** How asking a provider about a ROM ended. */
export type Said =
  { kind: 'match', match: Found } |
  /** It surely does not know the ROM. */
  { kind: 'miss' } |
  /** It was not asked, since others found the ROM or did not. */
  { kind: 'passed' } |
  { kind: 'failed' }

/** What is kept of a ROM's lookups. */
export interface Conclusion {
  all: Map<string, Found>
  /** Those that are new. */
  found: Map<string, Found>
  /** Providers whose stored match is dropped. */
  dropped: string[]
}

/** The provider's own id of the game; null for one that gives ids of others only. */
export const idOf = (found: Found): ProviderId | null => 'id' in found ? found.id : null

/** Whether one of these makes a ROM identified; of a provider that is gone, whether it had an id for it. */
export function isIdentified (
  founds: Founds, providers: ReadonlyMap<string, { definition: Pick<ProviderDefinition, 'kind'> }>
): boolean {
  return [...founds].some(([key, found]) => idOf(found) !== null && knowsGames(providers.get(key)?.definition ?? {}))
}

/** A match without a score is certain. */
const scoreOf = ({ score = 1 }: Found) => score

/**
 * One ROM's findings, which come in one by one, beside those stored before. A scan from scratch trusts nothing that is
 * stored; any other keeps the surer of two matches.
 */
export function createFindings (type: ScanType, stored: Founds) {
  const isFresh = type === 'complete'
  const refutes = isFresh || type === 'hashes'
  const said = new Map<string, Said>()

  const replaces = (match: Found, key: string) => {
    const before = stored.get(key)
    return isFresh || before === undefined || scoreOf(match) >= scoreOf(before)
  }

  /** What is held true of a ROM by one provider. */
  function believe (key: string): Found | undefined {
    const before = isFresh ? undefined : stored.get(key)
    const last = said.get(key)
    if (last?.kind === 'match') return replaces(last.match, key) ? last.match : before
    return last?.kind === 'miss' && refutes ? undefined : before
  }

  function isDropped (key: string, isSelected: boolean): boolean {
    const kind = said.get(key)?.kind
    if (isFresh && (!isSelected || kind === 'passed')) return true
    return kind === 'miss' && refutes
  }

  return {
    say (key: string, what: Said): void { said.set(key, what) },

    /** What these providers say by now, and all others said before. */
    before (keys: ReadonlySet<string>): Map<string, Found> {
      const known = new Map(isFresh ? [] : stored)
      for (const key of keys) {
        const found = believe(key)
        if (found === undefined) known.delete(key)
        else known.set(key, found)
      }
      return known
    },

    get failures (): number { return [...said.values()].filter(({ kind }) => kind === 'failed').length },

    conclude (selected: readonly string[]): Conclusion {
      const found = new Map([...said].flatMap(([key, what]) =>
        what.kind === 'match' && replaces(what.match, key) ? [[key, what.match] as const] : []))
      const dropped = [...stored.keys()].filter((key) => isDropped(key, selected.includes(key)))
      const kept = [...stored].filter(([key]) => !dropped.includes(key))
      return { all: new Map([...kept, ...found]), found, dropped }
    }
  }
}
export type Findings = ReturnType<typeof createFindings>
