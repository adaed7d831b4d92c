import {
  type Rom, type RomPlatform, type SearchQuery, findBestCandidate, lastPart, rankCandidates, toQuery
} from '@svc/plugin-sdk'
import names from '../data/platforms.json' with { type: 'json' }
import { searchGames } from './api.ts'
import type { HltbContext } from './config.ts'
import { hasTimes, listTitles, readYear, toMatch } from './map.ts'

const THRESHOLD = 0.85
const YEAR = /\((\d{4})\)/g
const NAMES: ReadonlyMap<unknown, string> = new Map(Object.entries(names))

/**
 * The game whose name is most like the file's: on its platform, on any, and at last by what follows the last colon.
 * The best one counts only when its times are known.
 */
export async function findGame (rom: Rom, ctx: HltbContext) {
  const term = toTerm(rom.titles[0] ?? rom.fs_name_no_tags)
  const platform = nameOf(rom.platform)
  const [year] = [...rom.fs_name.matchAll(YEAR)].map(([, digits]) => Number(digits))
  const find = async (words: string, where: string, split = false) => {
    const games = await searchGames(words, where, ctx)
    // Games of one name are told apart by the year, where the file's name has one.
    const sorted = games.toSorted((a, b) => Number(readYear(b) === year) - Number(readYear(a) === year))
    return findBestCandidate(words, sorted, listTitles, { threshold: THRESHOLD, split })
  }
  const best = await find(term, platform) ?? (platform === '' ? undefined : await find(term, '')) ??
    (term.includes(':') ? await find(lastPart(term.slice(term.lastIndexOf(':') + 1).trim()), platform, true) : undefined)
  return best !== undefined && hasTimes(best.candidate) ? toMatch(best.candidate, best.score) : undefined
}

/** Every game found, those most like the words first. */
export async function listGames ({ term: typed, platform }: SearchQuery, ctx: HltbContext) {
  // Years in brackets find nothing.
  const term = toTerm(typed.replaceAll(YEAR, ' '))
  const ranked = rankCandidates(term, await searchGames(term, nameOf(platform), ctx), listTitles)
  return ranked.flatMap(({ candidate, score }) => toMatch(candidate, score) ?? [])
}

/** What the site's search calls a platform; empty, which means any, when it is not known. */
const nameOf = ({ ids: [slug] }: RomPlatform): string => NAMES.get(slug) ?? ''

const toTerm = (name: string): string =>
  toQuery(name, { keepPunctuation: true }).replaceAll(/ ?- /g, ': ').replaceAll(/\s+/g, ' ')
