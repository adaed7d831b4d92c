import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { checkHealth, findGame, readAccount } from './api.ts'
import { ConfigSchema } from './config.ts'
import { findGameOfRom, listChoices } from './lookup.ts'
import { isNoGame, toMatch } from './map.ts'
import { isPlaceholder, toDownload } from './media.ts'
import { MetadataSchema } from './metadata.ts'
import { createViewpoint } from './regions.ts'

export default defineProvider({
  key: 'ss',
  name: 'ScreenScraper',
  id: 'integer',
  tag: 'ssfr',
  config: ConfigSchema,
  metadata: MetadataSchema,
  // Arcade boards of one maker are separate systems.
  platforms: { ...platformIds('ss_id'), arcade: [75, 6, 7, 8] },
  usesHashes: true,
  attribution: 'Data and artwork from ScreenScraper.fr',
  // The limit of a free account; each response contains the account's actual limits.
  limits: { concurrency: 1, timeoutMs: 300_000 },

  async identify (rom, ctx) {
    await readAccount(ctx)
    const found = await findGameOfRom(rom, ctx)
    return found && toMatch(found.game, createViewpoint(rom, ctx.preferences), found.score)
  },

  async getById (id, rom, ctx) {
    const game = await findGame({ gameid: id }, ctx)
    return game && !isNoGame(game.fields) ? toMatch(game, createViewpoint(rom, ctx.preferences)) : undefined
  },

  async search (query, ctx) {
    const viewpoint = createViewpoint(undefined, ctx.preferences)
    return (await listChoices(query, ctx)).map(({ game, score }) => toMatch(game, viewpoint, score))
  },

  media: { fetch: toDownload, accept: async (_media, file) => !isPlaceholder(file) },
  heartbeat: checkHealth
})
