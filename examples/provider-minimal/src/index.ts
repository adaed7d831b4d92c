import { type Context, type Match, type Rom, Type, defineProvider, findBestTitle } from '@svc/plugin-sdk'
import { MetadataSchema, type Metadata, readGame, readGames, toMatch } from './map.ts'

interface Config { baseUrl: string }

// Below this, two titles are more often two games than two spellings of one.
const THRESHOLD = 0.75

export default defineProvider({
  key: 'minimal',
  name: 'Minimal games database',
  id: 'integer',
  tag: 'minimal',
  config: Type.Object({
    baseUrl: Type.String({
      default: 'https://games.example/api',
      pattern: '^https?://',
      env: 'MINIMAL_API_URL',
      description: 'Address of the API, without a slash at the end'
    })
  }),
  metadata: MetadataSchema,
  limits: { concurrency: 2, perSecond: 4 },
  platforms: { nes: 1, snes: 2, genesis: 3 },

  async identify (rom: Rom, ctx: Context<Config>): Promise<Match<Metadata> | null> {
    const games = await findGames(rom.fs_name_no_tags, rom.platform.provider_id, ctx)
    const best = findBestTitle(rom.fs_name_no_tags, games.map((game) => game.title), { threshold: THRESHOLD })
    const game = games[best?.index ?? -1]
    return game === undefined || best === null ? null : { ...toMatch(game), score: best.score }
  },

  async getById (id, _rom, { config, http }) {
    const response = await http.request(`${config.baseUrl}/games/${encodeURIComponent(id)}`, { accept: [404] })
    const game = response.status === 404 ? null : readGame(response.json())
    return game === null ? null : toMatch(game)
  },

  async search ({ term, platform }, ctx) {
    return (await findGames(term, platform.provider_id, ctx)).map(toMatch)
  }
})

async function findGames (title: string, platform: number | string | null, { config, http }: Context<Config>) {
  return readGames(await http.json(`${config.baseUrl}/games`, { query: { title, platform } }))
}
