import type { Rom } from '@svc/plugin-sdk'
import { type Fields, isFields, readId, readTexts } from '@svc/plugin-sdk/readers'
import { listGames } from './api.ts'
import type { RaContext } from './config.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const HASH = /^[0-9a-f]{32}$/

/** Finds the id of the game whose file has the ROM's hash, or undefined. */
export async function findId ({ ra_hash: hash, platform }: Rom, ctx: RaContext): Promise<number | undefined> {
  const lowerCaseHash = hash?.toLowerCase()
  if (lowerCaseHash === undefined || !HASH.test(lowerCaseHash)) return undefined
  ctx.explain({ by: 'hash', hashes: ['ra'] })
  for (const consoleId of platform.ids) {
    const id = (await loadHashes(Number(consoleId), ctx)).get(lowerCaseHash)
    if (id !== undefined) return id
  }
  return undefined
}

/** Loads game ids by hash: from this scan, from the cache, or from the service. */
function loadHashes (consoleId: number, ctx: RaContext): Promise<ReadonlyMap<string, number>> {
  const key = `hashes of console ${consoleId}`
  return ctx.memo(key, async () => {
    const cached = await ctx.cache.get(key)
    if (isFields(cached)) return new Map(Object.keys(cached).flatMap((hash) => toEntries(hash, readId(cached, hash))))
    const hashes = new Map((await listGames(consoleId, ctx)).flatMap(listHashes))
    // An empty list is not cached, because a fault of the service is more likely than a console without games.
    if (hashes.size > 0) await ctx.cache.set(key, Object.fromEntries(hashes), ctx.config.hashDays * DAY_MS)
    return hashes
  })
}

function listHashes (game: Fields): [string, number][] {
  const id = readId(game, 'ID')
  return readTexts(game, 'Hashes').flatMap((hash) => toEntries(hash.toLowerCase(), id))
}

function toEntries (hash: string, id: number | undefined): [string, number][] {
  return id !== undefined && HASH.test(hash) ? [[hash, id]] : []
}
