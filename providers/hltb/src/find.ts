import {
  type Fields, type Rom, type SearchQuery, compareTitles, findBestTitle, lastPart, readText, toQuery
} from '@svc/plugin-sdk'
import { searchGames } from './api.ts'
import type { HltbContext } from './config.ts'
import { hasTimes, readYear } from './map.ts'
import { platformName } from './platforms.ts'

const THRESHOLD = 0.85
const YEAR = /\((\d{4})\)/g

export interface Candidate { readonly game: Fields, readonly score: number }

/**
 * The game whose name is most like the file's: on its platform, on any, and at last by what follows the last colon.
 * The best one counts only when its times are known.
 */
export async function findGame (rom: Rom, ctx: HltbContext): Promise<Candidate | undefined> {
  const term = toTerm(rom.fs_name_no_tags)
  if (term === '') return undefined
  const platform = platformName(rom.platform.ids[0])
  const [, year] = /\((\d{4})\)/.exec(rom.fs_name) ?? []
  const find = async (words: string, where: string, split = false) =>
    chooseGame(words, sortByYear(await searchGames(words, where, ctx), Number(year)), split)
  const best = await find(term, platform) ?? (platform === '' ? undefined : await find(term, '')) ??
    (term.includes(':') ? await find(term.slice(term.lastIndexOf(':') + 1).trim(), platform, true) : undefined)
  return best !== undefined && hasTimes(best.game) ? best : undefined
}

/** Every game found, those most like the words first. */
export async function listGames ({ term: typed, platform }: SearchQuery, ctx: HltbContext): Promise<Candidate[]> {
  // Years in brackets find nothing.
  const term = toTerm(typed.replaceAll(YEAR, ' '))
  const games = term === '' ? [] : await searchGames(term, platformName(platform.ids[0]), ctx)
  return games.map((game) => ({ game, score: compareTitles(term, readText(game, 'game_name') ?? '') }))
    .toSorted((a, b) => b.score - a.score)
}

/** Names come before aliases, so that these win only when no name is as good. */
function chooseGame (term: string, games: readonly Fields[], split: boolean): Candidate | undefined {
  if (term === '') return undefined
  const names = games.map((game) => [readText(game, 'game_name') ?? '', game] as const)
  const aliases = games.flatMap((game) =>
    (readText(game, 'game_alias') ?? '').split(',').map((alias) => [alias.trim(), game] as const))
  const titled = [...names, ...aliases].filter(([title]) => title !== '')
  const wanted = split ? lastPart(term) : term
  const best = findBestTitle(wanted, titled.map(([title]) => title), { threshold: THRESHOLD, split })
  const game = best && titled[best.index]?.[1]
  return best && game && { game, score: best.score }
}

/** Games of one name are told apart by the year, where the file's name has one. */
function sortByYear (games: readonly Fields[], year: number): Fields[] {
  return games.toSorted((a, b) => Number(readYear(b) === year) - Number(readYear(a) === year))
}

function toTerm (name: string): string {
  return toQuery(name.replaceAll(/ ?- /g, ': '), { keepPunctuation: true }).replaceAll(/\s+/g, ' ')
}
