import type { ProviderId, Rom } from '@svc/plugin-sdk'
import { type RankedCandidate, findBestCandidate, lastPart, toQuery } from '@svc/plugin-sdk/titles'
import { type Game, listGames } from './api.ts'
import type { MobyContext } from './config.ts'
import { listTitles } from './map.ts'

/** Low, because MobyGames finds only titles that contain the words. */
const THRESHOLD = 0.6
/** Minimum letters of a last part, because the titles of many games contain `II` or `GX`. */
const SHORTEST_PART = 4
/** The separator in file names that replaces the colon of a title. */
const SEPARATOR = /\s*[:-]\s+/g

/** Finds the game with the title most similar to that of the ROM, or else to its last part. */
export async function findGameOfRom (rom: Rom, ctx: MobyContext): Promise<RankedCandidate<Game> | undefined> {
  const [title = ''] = rom.titles
  const found = await findGame(title, rom.platform.ids, ctx, false)
  const part = lastPart(title)
  const isDistinctive = part !== title && part.replace(/\P{L}/gu, '').length >= SHORTEST_PART
  return found === undefined && isDistinctive ? findGame(part, rom.platform.ids, ctx, true) : found
}

/** Lists all games with these words in a title. Sends no request without a word or a platform. */
export async function searchGames (title: string, platform: readonly ProviderId[], ctx: MobyContext): Promise<Game[]> {
  const words = toQuery(title, { keepPunctuation: true })
  if (platform.length === 0 || words === '') return []
  return listGames(ctx, { title: words.replace(SEPARATOR, ': '), platform })
}

async function findGame (title: string, platformIds: readonly ProviderId[], ctx: MobyContext, split: boolean) {
  const games = await searchGames(title, platformIds, ctx)
  return findBestCandidate(title, games, listTitles, { threshold: THRESHOLD, split, explain: ctx.explain })
}
