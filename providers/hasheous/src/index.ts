import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { checkHealth, lookUp, readIgdbGame } from './api.ts'
import { ConfigSchema } from './config.ts'
import { listKinds, listLookupItems } from './hashes.ts'
import { LINKS, readIds, toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'

export default defineProvider({
  key: 'hasheous',
  name: 'Hasheous',
  id: 'integer',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: platformIds('hasheous_id'),
  order: { links: LINKS },
  usesHashes: true,
  limits: { concurrency: 4, timeoutMs: 150_000 },

  async identify (rom, ctx) {
    const items = listLookupItems(rom)
    if (items.length > 0) ctx.explain({ by: 'hash', hashes: listKinds(items) })
    const game = items.length === 0 ? undefined : await lookUp(items, ctx)
    if (game === undefined) return undefined
    const { igdb } = readIds(game)
    return toMatch(game, igdb === undefined ? undefined : await readIgdbGame(igdb, ctx), ctx.config.baseUrl)
  },

  heartbeat: checkHealth
})
