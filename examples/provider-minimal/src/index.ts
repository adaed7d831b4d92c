import { type ContextOf, CredentialsRefusedError, type ProviderId, Type, defineProvider } from '@svc/plugin-sdk'
import { findBestTitle } from '@svc/plugin-sdk/titles'
import { MetadataSchema, readGame, readGames } from './map.ts'

// Below this score, two titles are more often two games than two spellings of one.
const THRESHOLD = 0.75

const ConfigSchema = Type.Object({
  apiKey: Type.String({ writeOnly: true, env: 'MINIMAL_API_KEY', description: 'Key of your account' }),
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
    const titles = games.map(({ name }) => name)
    const best = findBestTitle(rom.fs_name_no_tags, titles, { threshold: THRESHOLD, explain: ctx.explain })
    const game = best && games[best.index]
    return game && { ...game, score: best.score }
  },

  async getById (id, _rom, ctx) {
    const response = await ask(`/games/${id}`, ctx)
    return response.status === 404 ? undefined : readGame(response.json())
  },

  async search ({ term, platform }, ctx) {
    return findGames(term, platform.ids, ctx)
  }
})

type Ctx = ContextOf<typeof ConfigSchema>

async function findGames (title: string, platform: readonly ProviderId[], ctx: Ctx) {
  const response = await ask('/games', ctx, { title, platform })
  return response.status === 404 ? [] : readGames(response.json())
}

/** Sends a request. Each request carries the key and must report a refused key, because the host then sends no more. */
async function ask (path: string, { config, http }: Ctx, query: Record<string, string | readonly ProviderId[]> = {}) {
  const headers = { authorization: `Bearer ${config.apiKey}` }
  const response = await http.request(`${config.baseUrl}${path}`, { query, headers, accept: [401, 403, 404] })
  if (response.status === 401 || response.status === 403) {
    throw new CredentialsRefusedError(`the key was refused with status ${response.status}; check apiKey`)
  }
  return response
}
