import { defineProvider } from '@svc/plugin-sdk'
import { findEntry, gamelistPath, loadGamelist } from './gamelist.ts'
import { toMatch } from './map.ts'
import { findMedia } from './media.ts'
import { GamelistMetadataSchema } from './metadata.ts'

export default defineProvider({
  key: 'gamelist',
  name: 'gamelist.xml',
  id: 'string',
  heartbeatFlag: null,
  order: { links: ['ss'] },
  metadata: GamelistMetadataSchema,
  limits: { concurrency: 8 },

  async identify (rom, ctx) {
    ctx.explain({ by: 'sidecar', path: gamelistPath(rom.platform) })
    const entry = findEntry(rom, await loadGamelist(rom.platform, ctx))
    return entry && toMatch(entry, rom.platform, await findMedia(entry, rom, ctx))
  },

  async heartbeat ({ signal }) {
    signal.throwIfAborted()
    return true
  }
})
