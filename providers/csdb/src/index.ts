import { defineProvider } from '@svc/plugin-sdk'
import { readRelease } from './api.ts'
import { ConfigSchema } from './config.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'

/** The id of a release that has always existed. */
const KNOWN_ID = 75_330

export default defineProvider({
  key: 'csdb',
  name: 'CSDb',
  id: 'integer',
  tag: 'csdb',
  config: ConfigSchema,
  metadata: MetadataSchema,
  order: { after: ['demozoo', 'pouet'] },
  // A match of another provider by the same name is a different game.
  claims: ['name', 'summary', 'media'],
  limits: { concurrency: 1, timeoutMs: 120_000, rates: [{ requests: 3, perMs: 2_000 }] },
  attribution: 'Data from the C-64 Scene Database, https://csdb.dk',

  // No search: the id comes from a tag, or from Demozoo or Pouët.
  async getById (id, _rom, ctx) {
    const release = Number.isSafeInteger(id) && id > 0 ? await readRelease(id, 2, ctx) : undefined
    return release && toMatch(id, release, ctx.found)
  },

  async heartbeat (ctx) {
    return await readRelease(KNOWN_ID, 1, ctx) !== undefined
  }
})
