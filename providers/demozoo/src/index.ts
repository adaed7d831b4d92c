import { defineProvider } from '@svc/plugin-sdk'
import { rankCandidates } from '@svc/plugin-sdk/titles'
import { listProductions, readProduction } from './api.ts'
import { ConfigSchema } from './config.ts'
import { findProduction, toTitle } from './find.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'
import { PLATFORM_IDS } from './platforms.ts'

export default defineProvider({
  key: 'demozoo',
  name: 'Demozoo',
  id: 'integer',
  tag: 'demozoo',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: PLATFORM_IDS,
  order: { links: ['pouet', 'csdb'] },
  // A match of another provider by the same name is a different game.
  claims: ['name', 'summary', 'media'],
  limits: { concurrency: 2, timeoutMs: 120_000, rates: [{ requests: 2, perMs: 1_000 }] },
  attribution: 'Data from Demozoo, https://demozoo.org',

  identify: findProduction,

  async getById (id, _rom, ctx) {
    const production = Number.isSafeInteger(id) && id > 0 ? await readProduction(id, ctx) : undefined
    return production && toMatch(production)
  },

  async search ({ term, platform }, ctx) {
    const title = toTitle(term)
    const rows = title === '' ? [] : await listProductions(title, platform.ids, ctx)
    const ranked = rankCandidates(title, rows.slice(0, 15), (row) => [row.title])
    return ranked.map(({ candidate, score }) => toMatch(candidate, score))
  },

  heartbeat: async (ctx) => (await listProductions('Second Reality', [], ctx)).length > 0
})
