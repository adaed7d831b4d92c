import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { checkHealth, findGame } from './api.ts'
import { ConfigSchema } from './config.ts'
import { findId } from './hashes.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'
import { AccountSchema, ProgressSchema, readProgress } from './progress.ts'

export default defineProvider({
  key: 'ra',
  name: 'RetroAchievements',
  id: 'integer',
  tag: 'ra',
  config: ConfigSchema,
  metadata: MetadataSchema,
  progress: { account: AccountSchema, schema: ProgressSchema, read: readProgress },
  platforms: platformIds('ra_id'),
  usesHashes: true,
  attribution: 'Achievements from RetroAchievements.org',
  // The service does not publish its rate limit: https://api-docs.retroachievements.org/getting-started.html
  limits: { concurrency: 4, timeoutMs: 250_000, rates: [{ requests: 4, perMs: 1000 }] },

  async identify (rom, ctx) {
    const id = await findId(rom, ctx)
    const game = id === undefined ? undefined : await findGame(id, ctx)
    return game && toMatch(game)
  },

  async getById (id, _rom, ctx) {
    const game = await findGame(id, ctx)
    return game && toMatch(game)
  },

  heartbeat: checkHealth
})
