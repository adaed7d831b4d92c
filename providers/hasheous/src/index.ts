import { type Rom, defineProvider, platformIds } from '@svc/plugin-sdk'
import { checkHealth, lookUp, readIgdbGame } from './api.ts'
import { ConfigSchema, type HasheousContext } from './config.ts'
import { listLookupItems } from './hashes.ts'
import { readIds, toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'

export default defineProvider({
  key: 'hasheous',
  name: 'Hasheous',
  id: 'integer',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: platformIds('hasheous_id'),
  links: ['igdb', 'ra', 'tgdb'],
  usesHashes: true,
  limits: { concurrency: 4, timeoutMs: 150_000 },

  async identify (rom: Rom, ctx: HasheousContext) {
    const items = listLookupItems(rom)
    const game = items.length === 0 ? null : await lookUp(items, ctx)
    if (game === null) return null
    const igdbId = readIds(game).igdb
    const igdbGame = igdbId === undefined ? null : await readIgdbGame(igdbId, ctx)
    return toMatch(game, igdbGame, ctx.config.baseUrl)
  },

  async heartbeat (ctx: HasheousContext) {
    return await checkHealth(ctx)
  }
})
