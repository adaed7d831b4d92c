import { defineProvider } from '@svc/plugin-sdk'
import { findBestTitle, rankCandidates } from '@svc/plugin-sdk/titles'
import { findId, readProduction, searchProductions } from './api.ts'
import { ConfigSchema } from './config.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'

const THRESHOLD = 0.88
/** The id of a production that every copy of the database has. */
const KNOWN_ID = 99

export default defineProvider({
  key: 'pouet',
  name: 'Pouët',
  id: 'integer',
  tag: 'pouet',
  config: ConfigSchema,
  metadata: MetadataSchema,
  order: { after: ['demozoo'], links: ['csdb'] },
  // A match of another provider by the same name is a different game.
  claims: ['name', 'summary', 'media'],
  // The service allows 15 requests a minute.
  limits: {
    concurrency: 1, timeoutMs: 120_000, rates: [{ requests: 1, perMs: 4_500, hosts: ['api.pouet.net', 'www.pouet.net'] }]
  },
  attribution: 'Data from pouët.net, https://www.pouet.net',

  async identify (rom, ctx) {
    const title = rom.fs_name_no_tags.replaceAll('_', ' ').trim()
    const id = await findId(title, ctx)
    const production = id === undefined ? undefined : await readProduction(id, ctx)
    const best = production && findBestTitle(title, [production.name], { threshold: THRESHOLD, explain: ctx.explain })
    return best && toMatch(production, ctx.found, best.score)
  },

  async getById (id, _rom, ctx) {
    const production = Number.isSafeInteger(id) && id > 0 ? await readProduction(id, ctx) : undefined
    return production && toMatch(production, ctx.found)
  },

  async search ({ term }, ctx) {
    const productions = term.trim() === '' ? [] : await searchProductions(term.trim(), ctx)
    return rankCandidates(term, productions, ({ name }) => [name])
      .map(({ candidate, score }) => toMatch(candidate, ctx.found, score))
  },

  heartbeat: async (ctx) => await readProduction(KNOWN_ID, ctx) !== undefined
})
