import { defineProvider } from '@svc/plugin-sdk'
import { listMedia, readUrl } from '@svc/plugin-sdk/readers'
import { checkStore, findCapsule, readApp } from './api.ts'
import { ConfigSchema } from './config.ts'
import { findGame, listHits } from './find.ts'
import { toMatch } from './map.ts'
import { MetadataSchema } from './metadata.ts'

export default defineProvider({
  key: 'steam',
  name: 'Steam',
  id: 'integer',
  tag: 'steam',
  config: ConfigSchema,
  metadata: MetadataSchema,
  platforms: { win: true, linux: true, mac: true },
  // The store allows about 200 requests in 5 minutes.
  limits: { timeoutMs: 300_000, rates: [{ requests: 3, perMs: 5_000, hosts: ['store.steampowered.com'] }] },

  async identify (rom, ctx) {
    const found = await findGame(rom.titles[0] ?? '', rom.platform.slug, ctx)
    return found && toMatch(found.id, found.app, await findCapsule(found.id, ctx), found.score)
  },

  async getById (id, _rom, ctx) {
    const app = Number.isSafeInteger(id) && id > 0 ? await readApp(id, ctx) : undefined
    return app && toMatch(id, app, await findCapsule(id, ctx))
  },

  async search ({ term, platform }, ctx) {
    const hits = await listHits(term, platform.slug, ctx)
    return hits.map(({ candidate: { id, name, fields }, score }) =>
      ({ id, name, score, media: listMedia('cover', [readUrl(fields, 'tiny_image')]) }))
  },

  heartbeat: checkStore
})
