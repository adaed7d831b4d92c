import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { findBestCandidate, rankCandidates } from '@svc/plugin-sdk/titles'
import { checkHealth } from './api.ts'
import { listPictures, readBoxes } from './artwork.ts'
import { ConfigSchema } from './config.ts'
import { listTitles, readGames, searchGames } from './games.ts'
import { toMatch } from './map.ts'

export default defineProvider({
  key: 'tgdb',
  name: 'TheGamesDB',
  id: 'integer',
  tag: 'tgdb',
  config: ConfigSchema,
  // A console with two names has its games under one of them.
  platforms: { ...platformIds('tgdb_id'), sfam: 6, famicom: 7 },
  // The allowance is about a thousand requests a month, so games that other providers identify cost none.
  order: { when: 'unidentified' },
  limits: { concurrency: 2, timeoutMs: 180_000 },

  async identify (rom, ctx) {
    const [title = ''] = rom.titles
    const { games, include } = await searchGames(title, rom.platform.ids, ctx)
    const found = findBestCandidate(title, games, listTitles, { threshold: 0.75, explain: ctx.explain })
    const game = found?.candidate
    return game && toMatch(game, await listPictures(game.id, include, ctx), ctx, found.score)
  },

  async getById (id, _rom, ctx) {
    if (!Number.isSafeInteger(id) || id <= 0) return undefined
    const { games, include } = await readGames(id, ctx)
    const game = games.find((game) => game.id === id)
    return game && toMatch(game, await listPictures(id, include, ctx), ctx)
  },

  async search ({ term, platform }, ctx) {
    const { games, include } = await searchGames(term, platform.ids, ctx)
    return Promise.all(rankCandidates(term, games, listTitles)
      .map(({ candidate, score }) => toMatch(candidate, readBoxes(candidate.id, include), ctx, score)))
  },

  heartbeat: checkHealth
})
