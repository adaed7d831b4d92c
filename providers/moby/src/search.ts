import { type ProviderId, type RankedCandidate, type Rom, findBestCandidate, lastPart, toQuery } from '@svc/plugin-sdk'
import { type Game, listGames } from './api.ts'
import type { MobyContext } from './config.ts'
import { listTitles } from './map.ts'

/** Low, since MobyGames finds only titles that contain the words. */
const THRESHOLD = 0.6
/** A last part such as `II` or `GX` is in the titles of many games. */
const SHORTEST_PART = 4
/** What file names have for the colon of a title. */
const SEPARATOR = /\s*[:-]\s+/g

/** The game whose title is most like that of the ROM; when there is none, most like its last part. */
export async function findGameOfRom (rom: Rom, ctx: MobyContext): Promise<RankedCandidate<Game> | undefined> {
  const [title = ''] = rom.titles
  const found = await findGame(title, rom.platform.ids, ctx, false)
  const part = lastPart(title)
  const isTelling = part !== title && part.replace(/\P{L}/gu, '').length >= SHORTEST_PART
  return found === undefined && isTelling ? findGame(part, rom.platform.ids, ctx, true) : found
}

/** Every game with these words in a title. Nothing is asked without a word or a platform. */
export async function searchGames (title: string, platform: readonly ProviderId[], ctx: MobyContext): Promise<Game[]> {
  const words = toQuery(title, { keepPunctuation: true })
  if (platform.length === 0 || words === '') return []
  return listGames(ctx, { title: words.replace(SEPARATOR, ': '), platform })
}

async function findGame (title: string, platformIds: readonly ProviderId[], ctx: MobyContext, split: boolean) {
  const games = await searchGames(title, platformIds, ctx)
  return findBestCandidate(title, games, listTitles, { threshold: THRESHOLD, split })
}
