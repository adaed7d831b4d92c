import { type ContextOf, type ProviderId, Type, defineProvider, findBestTitle } from '@svc/plugin-sdk'
import { MetadataSchema, readGame, readGames } from './map.ts'

// Below this, two titles are more often two games than two spellings of one.
const THRESHOLD = 0.75

const ConfigSchema = Type.Object({
  baseUrl: Type.String({
    default: 'https://games.example/api', pattern: '^https?://', env: 'MINIMAL_API_URL', description: 'Address of the API'
  })
})

export default defineProvider({
  key: 'minimal',
  name: 'Minimal games database',
  id: 'integer',
  tag: 'minimal',
  config: ConfigSchema,
  metadata: MetadataSchema,
  limits: { concurrency: 2, rates: [{ requests: 4, perMs: 1000 }] },
  platforms: { nes: 1, snes: 2, genesis: 3 },

  async identify (rom, ctx) {
    const games = await findGames(rom.fs_name_no_tags, rom.platform.ids, ctx)
    const best = findBestTitle(rom.fs_name_no_tags, games.map(({ name }) => name), { threshold: THRESHOLD })
    const game = best && games[best.index]
    return game && { ...game, score: best.score }
  },

  async getById (id, _rom, { config, http }) {
    const response = await http.request(`${config.baseUrl}/games/${id}`, { accept: [404] })
    return response.status === 404 ? undefined : readGame(response.json())
  },

  async search ({ term, platform }, ctx) {
    return findGames(term, platform.ids, ctx)
  }
})

async function findGames (title: string, platform: readonly ProviderId[], ctx: ContextOf<typeof ConfigSchema>) {
  return readGames(await ctx.http.json(`${ctx.config.baseUrl}/games`, { query: { title, platform } }))
}
