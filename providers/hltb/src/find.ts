import type { Rom, RomPlatform, SearchQuery } from '@svc/plugin-sdk'
import { findBestCandidate, lastPart, rankCandidates, toQuery } from '@svc/plugin-sdk/titles'
import names from '../data/platforms.json' with { type: 'json' }
import { searchGames } from './api.ts'
import type { HltbContext } from './config.ts'
import { hasTimes, listTitles, readYear, toMatch } from './map.ts'

const THRESHOLD = 0.85
const YEAR = /\((\d{4})\)/g
const NAMES: ReadonlyMap<unknown, string> = new Map(Object.entries(names))

/**
 * Finds the game whose name is most similar to the file's: on its platform, on any platform, and last by the text
 * after the last colon. The best game counts only if its times are known.
 */
export async function findGame (rom: Rom, ctx: HltbContext) {
  const term = toTerm(rom.titles[0] ?? rom.fs_name_no_tags)
  const platform = nameOf(rom.platform)
  const [year] = [...rom.fs_name.matchAll(YEAR)].map(([, digits]) => Number(digits))
  const find = async (words: string, where: string, split = false) => {
    const games = await searchGames(words, where, ctx)
    // The year in the file's name, if any, distinguishes games of the same name.
    const sorted = year === undefined
      ? games
      : games.toSorted((a, b) => Number(readYear(b) === year) - Number(readYear(a) === year))
    return findBestCandidate(words, sorted, listTitles, { threshold: THRESHOLD, split, explain: ctx.explain })
  }
  const best = await find(term, platform) ?? (platform === '' ? undefined : await find(term, '')) ??
    (term.includes(':') ? await find(lastPart(term.slice(term.lastIndexOf(':') + 1).trim()), platform, true) : undefined)
  return best !== undefined && hasTimes(best.candidate) ? toMatch(best.candidate, best.score) : undefined
}

/** Lists all games of a search, the most similar first. */
export async function listGames ({ term: typed, platform }: SearchQuery, ctx: HltbContext) {
  // A search with a year in brackets finds nothing.
  const term = toTerm(typed.replaceAll(YEAR, ' '))
  const ranked = rankCandidates(term, await searchGames(term, nameOf(platform), ctx), listTitles)
  return ranked.flatMap(({ candidate, score }) => toMatch(candidate, score) ?? [])
}

/** Returns the platform's name in the site's search; empty, which means any, when unknown. */
const nameOf = ({ ids: [slug] }: RomPlatform): string => NAMES.get(slug) ?? ''

const toTerm = (name: string): string =>
  toQuery(name, { keepPunctuation: true }).replaceAll(/ ?- /g, ': ').replaceAll(/\s+/g, ' ')
