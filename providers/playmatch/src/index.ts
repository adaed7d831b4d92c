import { ServiceDownError, defineProvider, listHashKinds } from '@svc/plugin-sdk'
import { isFields, readText } from '@svc/plugin-sdk/readers'
import { ConfigSchema, type PlaymatchContext } from './config.ts'
import { toFileQuery } from './file.ts'
import { LINKS, readIds, toMappings } from './provider-ids.ts'

const TIMEOUT_MS = 60_000
const SUGGESTION_TIMEOUT_MS = 30_000
/** The service itself caches its responses for four hours. */
const CACHE_MS = 4 * 60 * 60 * 1000

export default defineProvider({
  key: 'playmatch',
  name: 'Playmatch',
  kind: 'ids',
  config: ConfigSchema,
  order: { links: LINKS },
  usesHashes: true,
  limits: { concurrency: 4, timeoutMs: 120_000, rates: [{ requests: 4, perMs: 1000 }] },

  async identify (rom, ctx) {
    const query = toFileQuery(rom)
    if (query === undefined) return undefined
    ctx.explain({ by: 'hash', hashes: listHashKinds({ crc_hash: query.crc, md5_hash: query.md5, sha1_hash: query.sha1 }) })
    const game = await ctx.http.json(toUrl(ctx, '/identify/ids'),
      { query: { ...query }, timeoutMs: TIMEOUT_MS, cacheMs: CACHE_MS })
    if (!isFields(game) || readText(game, 'gameMatchType') === undefined) {
      throw new ServiceDownError('Playmatch answered without the type of a match; try again later')
    }
    const ids = readIds(game)
    return Object.keys(ids).length === 0 ? undefined : { ids }
  },

  async suggest (rom, ids, ctx) {
    const file = toFileQuery(rom)
    const mappings = toMappings(ids)
    if (file === undefined || mappings.length === 0) return
    const { fileName, fileSize, md5 = null, sha1 = null } = file
    await ctx.http.request(toUrl(ctx, '/suggestion/external/game'), {
      method: 'POST', json: { md5, sha1, sha256: null, fileName, fileSize, mappings }, timeoutMs: SUGGESTION_TIMEOUT_MS
    })
  },

  async heartbeat (ctx) {
    await ctx.http.request(toUrl(ctx, '/health'), { timeoutMs: TIMEOUT_MS })
    return true
  }
})

function toUrl ({ config }: PlaymatchContext, path: string): string {
  return config.baseUrl.replace(/\/+$/, '') + path
}
