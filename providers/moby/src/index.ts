import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { rankCandidates } from '@svc/plugin-sdk/titles'
import { checkHealth, listGames } from './api.ts'
import { API_HOST, ConfigSchema } from './config.ts'
import { listTitles, toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'
import { findGameOfRom, searchGames } from './search.ts'

export default defineProvider({
  key: 'moby',
  name: 'MobyGames',
  id: 'integer',
  tag: 'moby',
  config: ConfigSchema,
  metadata: MetadataSchema,
  // Arcade games are also listed under the Neo Geo, and games of its arcade system under the arcade.
  platforms: { ...platformIds('moby_id'), arcade: [143, 36], neogeomvs: [36, 143] },
  limits: ({ secondsPerRequest }) => ({
    timeoutMs: 300_000, rates: [{ requests: 1, perMs: secondsPerRequest * 1000, hosts: [API_HOST] }]
  }),
  attribution: 'Data by MobyGames.com',

  async identify (rom, ctx) {
    const found = await findGameOfRom(rom, ctx)
    return found && toMatch(found.candidate, rom.platform.ids, found.score)
  },

  async getById (id, rom, ctx) {
    if (!Number.isSafeInteger(id) || id <= 0) return undefined
    const game = (await listGames(ctx, { id })).find((game) => game.game_id === id)
    return game && toMatch(game, rom?.platform.ids ?? [])
  },

  async search ({ term, platform }, ctx) {
    const games = await searchGames(term, platform.ids, ctx)
    return rankCandidates(term, games, listTitles)
      .map(({ candidate, score }) => toMatch(candidate, platform.ids, score))
  },

  heartbeat: checkHealth
})
