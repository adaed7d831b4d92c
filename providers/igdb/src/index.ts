import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { listGames, sendQuery } from './api.ts'
import { ConfigSchema } from './config.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'
import { idsQuery } from './query.ts'
import { chooseRegion } from './region.ts'
import { findGameOfRom, searchGames } from './search.ts'

export default defineProvider({
  key: 'igdb',
  name: 'IGDB',
  id: 'integer',
  tag: 'igdb',
  config: ConfigSchema,
  metadata: MetadataSchema,
  // One console with two names has its games under both.
  platforms: {
    ...platformIds('igdb_id'), snes: [19, 58], sfam: [58, 19], nes: [18, 99], famicom: [99, 18]
  },
  // Rate limits: https://api-docs.igdb.com/#rate-limits
  limits: { concurrency: 8, timeoutMs: 120_000, rates: [{ requests: 4, perMs: 1000, hosts: ['api.igdb.com'] }] },

  async identify (rom, ctx) {
    const found = await findGameOfRom(rom, ctx)
    const region = chooseRegion(ctx.preferences.regions)
    return found && toMatch(found.game, { region, platformIds: rom.platform.ids }, found.score)
  },

  async getById (id, _rom, ctx) {
    if (!Number.isSafeInteger(id) || id <= 0) return undefined
    const game = (await listGames(ctx, idsQuery([id]))).find((game) => game.id === id)
    return game && toMatch(game, { region: chooseRegion(ctx.preferences.regions) })
  },

  async search (query, ctx) {
    const viewpoint = { region: chooseRegion(ctx.preferences.regions), platformIds: query.platform.ids }
    return (await searchGames(query, ctx)).map(({ game, score }) => toMatch(game, viewpoint, score))
  },

  async heartbeat (ctx) {
    return (await sendQuery(ctx, 'games', 'fields id; limit 1;')).length > 0
  }
})
