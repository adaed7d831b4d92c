import {
  type Fields, type RankedCandidate, type Rom, type SearchQuery, findBestCandidate, lastPart, rankCandidates, readText,
  toQuery
} from '@svc/plugin-sdk'
import { searchGames } from './api.ts'
import type { HltbContext } from './config.ts'
import { hasTimes, readYear } from './map.ts'
import { platformName } from './platforms.ts'

const THRESHOLD = 0.85
const YEAR = /\((\d{4})\)/g

/**
 * The game whose name is most like the file's: on its platform, on any, and at last by what follows the last colon.
 * The best one counts only when its times are known.
 */
export async function findGame (rom: Rom, ctx: HltbContext): Promise<RankedCandidate<Fields> | undefined> {
  const term = toTerm(rom.titles[0] ?? rom.fs_name_no_tags)
  if (term === '') return undefined
  const platform = platformName(rom.platform.ids[0])
  const [year] = [...rom.fs_name.matchAll(YEAR)].map(([, digits]) => Number(digits))
  const find = async (words: string, where: string, split = false) => {
    const games = words === '' ? [] : sortByYear(await searchGames(words, where, ctx), year)
    return findBestCandidate(words, games, listTitles, { threshold: THRESHOLD, split })
  }
  const best = await find(term, platform) ?? (platform === '' ? undefined : await find(term, '')) ??
    (term.includes(':') ? await find(lastPart(term.slice(term.lastIndexOf(':') + 1).trim()), platform, true) : undefined)
  return best !== undefined && hasTimes(best.candidate) ? best : undefined
}

/** Every game found, those most like the words first. */
export async function listGames (
  { term: typed, platform }: SearchQuery, ctx: HltbContext
): Promise<RankedCandidate<Fields>[]> {
  // Years in brackets find nothing.
  const term = toTerm(typed.replaceAll(YEAR, ' '))
  const games = term === '' ? [] : await searchGames(term, platformName(platform.ids[0]), ctx)
  return rankCandidates(term, games, listTitles)
}

/** The name of a game, then its aliases. */
function listTitles (game: Fields): string[] {
  const aliases = (readText(game, 'game_alias') ?? '').split(',').map((alias) => alias.trim())
  return [readText(game, 'game_name') ?? '', ...aliases.filter((alias) => alias !== '')]
}

/** Games of one name are told apart by the year, where the file's name has one. */
function sortByYear (games: readonly Fields[], year: number | undefined): Fields[] {
  return games.toSorted((a, b) => Number(readYear(b) === year) - Number(readYear(a) === year))
}

/** A name without a word is looked for nowhere. */
function toTerm (name: string): string {
  return toQuery(name, { keepPunctuation: true }).replaceAll(/ ?- /g, ': ').replaceAll(/\s+/g, ' ')
}
