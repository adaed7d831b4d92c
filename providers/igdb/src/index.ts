import { type ProviderId, type Rom, type SearchQuery, defineProvider, platformIds } from '@svc/plugin-sdk'
import { listGames, sendQuery } from './api.ts'
import { ConfigSchema, type IgdbContext } from './config.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'
import { idsQuery, listPlatformIds } from './query.ts'
import { chooseRegion } from './region.ts'
import { findGameOfRom, searchGames } from './search.ts'

export default defineProvider({
  key: 'igdb',
  name: 'IGDB',
  id: 'integer',
  tag: 'igdb',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: platformIds('igdb_id'),
  // https://api-docs.igdb.com/#rate-limits
  limits: { concurrency: 8, perSecond: 4, timeoutMs: 120_000 },

  async identify (rom: Rom, ctx: IgdbContext) {
    const found = await findGameOfRom(rom, ctx)
    if (found === null) return null
    const region = chooseRegion(rom.region_codes, ctx.preferences.regions)
    return toMatch(found.game, { region, platformIds: listPlatformIds(rom.platform) }, found.score)
  },

  async getById (id: ProviderId, rom: Rom | null, ctx: IgdbContext) {
    const number = Number(id)
    if (!Number.isSafeInteger(number) || number <= 0) return null
    const game = (await listGames(ctx, idsQuery([number]))).find((game) => game.id === number)
    if (game === undefined) return null
    const region = chooseRegion(rom?.region_codes ?? [], ctx.preferences.regions)
    return toMatch(game, { region, platformIds: null })
  },

  async search (query: SearchQuery, ctx: IgdbContext) {
    const region = chooseRegion([], ctx.preferences.regions)
    const viewpoint = { region, platformIds: listPlatformIds(query.platform) }
    return (await searchGames(query, ctx)).map(({ game, score }) => toMatch(game, viewpoint, score))
  },

  async heartbeat (ctx: IgdbContext) {
    return (await sendQuery(ctx, 'games', 'fields id; limit 1;')).length > 0
  }
})
