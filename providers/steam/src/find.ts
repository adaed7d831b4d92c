import { readFields } from '@svc/plugin-sdk/readers'
import { findBestCandidate, rankCandidates, toQuery } from '@svc/plugin-sdk/titles'
import { type Hit, readApp, searchStore } from './api.ts'
import type { SteamContext } from './config.ts'

const THRESHOLD = 0.85
/** Maximum number of apps read for one name, because soundtracks and extensions have names similar to games. */
const TRIES = 3

/** The store's flag of each platform. */
const FLAGS: ReadonlyMap<string, string> = new Map([['win', 'windows'], ['linux', 'linux'], ['mac', 'mac']])

/** Finds the game with the name most similar to a file's; undefined when none is similar enough. */
export async function findGame (name: string, platform: string, ctx: SteamContext) {
  const term = toTerm(name)
  if (term === '') return undefined
  let hits = sortByPlatform(await searchStore(term, ctx), platform)
  for (let tries = 0; tries < TRIES; tries++) {
    const best = findBestCandidate(term, hits, ({ name }) => [name], { threshold: THRESHOLD, explain: ctx.explain })
    if (best === undefined) return undefined
    const { candidate: hit, score } = best
    const app = await readApp(hit.id, ctx)
    if (app?.type === 'game') return { id: hit.id, app, score }
    hits = hits.filter((other) => other !== hit)
  }
  return undefined
}

/** Lists all apps of a search, the most similar first. */
export async function listHits (typed: string, platform: string, ctx: SteamContext) {
  const term = toTerm(typed)
  const hits = term === '' ? [] : sortByPlatform(await searchStore(term, ctx), platform)
  return rankCandidates(term, hits, ({ name }) => [name])
}

const toTerm = (name: string): string => toQuery(name, { keepPunctuation: true })

/** Sorts apps for the platform first, because the first one wins on a tie. */
function sortByPlatform (hits: readonly Hit[], platform: string): Hit[] {
  const isNotOnPlatform = ({ fields }: Hit) => readFields(fields, 'platforms')?.[FLAGS.get(platform) ?? ''] === false
  return hits.toSorted((a, b) => Number(isNotOnPlatform(a)) - Number(isNotOnPlatform(b)))
}
