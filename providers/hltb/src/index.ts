import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { readGame } from './api.ts'
import { ConfigSchema } from './config.ts'
import { findGame, listGames } from './find.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'
import { SITE_URL } from './session.ts'

export default defineProvider({
  key: 'hltb',
  name: 'HowLongToBeat',
  id: 'integer',
  tag: 'hltb',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: platformIds('hltb_slug'),
  attribution: 'Times to beat from HowLongToBeat, https://howlongtobeat.com',
  limits: { concurrency: 3, timeoutMs: 180_000, rates: [{ requests: 3, perMs: 1_000 }] },

  identify: findGame,

  async getById (id, _rom, ctx) {
    const game = Number.isSafeInteger(id) && id > 0 ? await readGame(id, ctx) : undefined
    return game && toMatch(game)
  },

  search: listGames,

  async heartbeat ({ http }) {
    await http.request(`${SITE_URL}/api/stats/games?platform=1&year=2000`)
    return true
  }
})
