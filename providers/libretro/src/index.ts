import { HttpStatusError, RateLimitedError, ServiceDownError, defineProvider, platformIds } from '@svc/plugin-sdk'
import { findArtwork } from './artwork.ts'
import { BASE_URL, EXTRA_ART } from './listing.ts'

export default defineProvider({
  key: 'libretro',
  name: 'libretro thumbnails',
  id: 'string',
  kind: 'artwork',
  platforms: platformIds('libretro_slug'),
  // The first ROM of a platform waits for up to four listings. Each of them may take a minute and a retry.
  limits: { concurrency: 4, timeoutMs: 180_000 },

  async identify (rom, ctx) {
    const wanted = EXTRA_ART.filter(({ kind }) => ctx.preferences.media.includes(kind))
    return findArtwork(rom.fs_name_no_ext, rom.platform.ids[0], wanted, ctx)
  },

  async search ({ term, platform }, ctx) {
    const match = await findArtwork(term, platform.ids[0], [], ctx)
    return match === undefined ? [] : [match]
  },

  async heartbeat ({ http }) {
    try {
      await http.request(`${BASE_URL}/`, { method: 'HEAD', timeoutMs: 10_000, retry: false })
      return true
    } catch (error) {
      if (error instanceof ServiceDownError) return false
      if (error instanceof RateLimitedError || error instanceof HttpStatusError) return true
      throw error
    }
  }
})
