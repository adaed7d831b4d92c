import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { badRequest } from '../../core/errors.ts'
import type { OutgoingClient } from '../../core/http/client.ts'
import { createArtworkClient } from '../artwork/client.ts'
import { openImage } from '../resources/image.ts'

const FETCHABLE = /^https?:\/\//i
/** The size of covers in a choice, for screens with two pixels per point. */
const HEIGHT = 480
const TIMEOUT_MS = 10_000

/** Creates the function that downloads a picture and makes it small. The artwork client checks the address. */
export function createPreviews (app: FastifyInstance, config: Config) {
  let client: OutgoingClient | null = null
  app.addHook('onClose', async () => { await client?.close() })

  return async (url: string): Promise<Buffer> => {
    const shown = url.slice(0, 300)
    if (!FETCHABLE.test(url)) throw badRequest(`The picture '${shown}' is not a web address; give one that begins with https://`)
    try {
      client ??= createArtworkClient(app, config, app.log)
      const { bytes } = await client.withSignal(AbortSignal.timeout(TIMEOUT_MS)).request(url)
      return await (await openImage(bytes)).resize({ height: HEIGHT, withoutEnlargement: true }).webp().toBuffer()
    } catch (err) {
      throw badRequest(`The picture '${shown}' cannot be shown: ${err instanceof Error ? err.message : String(err)}`)
    }
  }
}
