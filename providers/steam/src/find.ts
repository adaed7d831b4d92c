import { findBestCandidate, rankCandidates, readFields, toQuery } from '@svc/plugin-sdk'
import { type Hit, readApp, searchStore } from './api.ts'
import type { SteamContext } from './config.ts'

const THRESHOLD = 0.85
/** Details that are read for one name: soundtracks and extensions stand beside games of the same name. */
const TRIES = 3

/** The store's flag of each platform. */
const FLAGS: ReadonlyMap<string, string> = new Map([['win', 'windows'], ['linux', 'linux'], ['mac', 'mac']])

/** The game whose name is most like a file's; undefined when none is like it. */
export async function findGame (name: string, platform: string, ctx: SteamContext) {
  const term = toTerm(name)
  if (term === '') return undefined
  let hits = sortByPlatform(await searchStore(term, ctx), platform)
  for (let tries = 0; tries < TRIES; tries++) {
    const best = findBestCandidate(term, hits, ({ name }) => [name], { threshold: THRESHOLD })
    if (best === undefined) return undefined
    const { candidate: hit, score } = best
    const app = await readApp(hit.id, ctx)
    if (app?.type === 'game') return { id: hit.id, app, score }
    hits = hits.filter((other) => other !== hit)
  }
  return undefined
}

/** Every app found, those most like the term first. */
export async function listHits (typed: string, platform: string, ctx: SteamContext) {
  const term = toTerm(typed)
  const hits = term === '' ? [] : sortByPlatform(await searchStore(term, ctx), platform)
  return rankCandidates(term, hits, ({ name }) => [name])
}

const toTerm = (name: string): string => toQuery(name, { keepPunctuation: true })

/** Those that are made for the platform come first, so that they win among equals. */
function sortByPlatform (hits: readonly Hit[], platform: string): Hit[] {
  const lacks = ({ fields }: Hit) => readFields(fields, 'platforms')?.[FLAGS.get(platform) ?? ''] === false
  return hits.toSorted((a, b) => Number(lacks(a)) - Number(lacks(b)))
}
