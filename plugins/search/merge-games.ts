import { compareTitles } from '@svc/plugin-sdk/titles'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { RomProviders } from '../roms/providers.ts'
import { mayBeShown } from '../roms/visibility.ts'
import { type GameCandidate, type GamesAnswer, toComparedName } from './search-calls.ts'
import type { SearchedGameView } from './schemas.ts'

/** Records of one game from several providers, the most trusted first. */
type Group = Map<string, GameCandidate>

/** The ROM that the games are candidates for. */
interface SearchedRom { platform_id: number, fs_name_no_tags: string }

interface MergeRules { providers: RomProviders, priority: readonly string[] }

/** Groups games by name. Of two games with one name at one provider, the first counts. */
function groupByName (answers: GamesAnswer['answers'], priority: readonly string[]): Map<string, Group> {
  const positionOf = (key: string) => priority.includes(key) ? priority.indexOf(key) : priority.length
  const groups = new Map<string, Group>()
  for (const { key, found } of answers.toSorted(
    (a, b) => positionOf(a.key) - positionOf(b.key) || (a.key < b.key ? -1 : 1)
  )) {
    for (const game of found) {
      const name = toComparedName(game.name)
      if (name === '') continue
      const group = groups.get(name) ?? new Map<string, GameCandidate>()
      groups.set(name, group)
      if (!group.has(key)) group.set(key, game)
    }
  }
  return groups
}

function strictestAge (group: Group): number | null {
  const ages = [...group.values()].flatMap(({ min_age: age }) => age ?? [])
  return ages.length === 0 ? null : Math.max(...ages)
}

/** Returns the year of the most trusted provider that knows one. */
const yearOf = (group: Group): number | null => [...group.values()].find(({ year }) => year !== null)?.year ?? null

/** Returns the fields that belong to one provider: its id of the game, and its cover. */
const ownFields = (key: string, { id, url_cover: cover }: GameCandidate) =>
  ({ [`${key}_id`]: id, [`${key}_url_cover`]: cover })

/**
 * Merges games with one name. The first provider by the configured priority decides the common fields, even if its
 * fields are empty. The other providers add their id and cover. A game is included only if the caller may see it.
 */
export function mergeGames (
  { answers, artwork }: GamesAnswer, { platform_id: platformId, fs_name_no_tags: fileName }: SearchedRom,
  caller: NonNullable<AnyCaller>, { providers: { all }, priority }: MergeRules
): SearchedGameView[] {
  const emptyFields = Object.fromEntries(all.flatMap(({ key }) => [[`${key}_id`, null], [`${key}_url_cover`, '']]))
  const pictures = Map.groupBy(artwork, ({ name }) => name)
  return [...groupByName(answers, priority)].flatMap(([compared, group]): SearchedGameView[] => {
    const [first] = group.values()
    if (first === undefined || !mayBeShown(caller, strictestAge(group))) return []
    const { name, slug, summary } = first
    const providerFields = [...group].map(([key, game]) => ownFields(key, game))
    const pictureFields = (pictures.get(compared) ?? []).map(({ key, game }) => ownFields(key, game))
    return [Object.assign({
      ...emptyFields, id: null, platform_id: platformId, name, slug, summary,
      year: yearOf(group), score: compareTitles(fileName, name), is_identified: true, is_unidentified: false
    }, ...pictureFields, ...providerFields) as SearchedGameView]
  })
}
