import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { findBestCandidate, rankCandidates, toQuery } from '@svc/plugin-sdk/titles'
import { checkHealth, findId, listGames, readGame } from './api.ts'
import { ConfigSchema } from './config.ts'
import { listTitles, toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'

const THRESHOLD = 0.75

export default defineProvider({
  key: 'flashpoint',
  name: 'Flashpoint Archive',
  id: 'string',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: platformIds('flashpoint_id'),
  limits: { concurrency: 2, timeoutMs: 150_000 },

  async identify (rom, ctx) {
    const id = findId(rom.fs_name_no_ext)
    const named = id === undefined ? undefined : await readGame(ctx, id)
    if (named !== undefined) return toMatch(named)
    const [title = ''] = rom.titles
    const games = await listGames(ctx, toQuery(title, { keepPunctuation: true }))
    const found = findBestCandidate(title, games, listTitles, { threshold: THRESHOLD, explain: ctx.explain })
    return found && toMatch(found.candidate, found.score)
  },

  async getById (id, _rom, ctx) {
    const game = await readGame(ctx, id)
    return game && toMatch(game)
  },

  async search ({ term }, ctx) {
    const games = await listGames(ctx, term)
    return rankCandidates(term, games, listTitles).map(({ candidate, score }) => toMatch(candidate, score))
  },

  heartbeat: checkHealth
})
