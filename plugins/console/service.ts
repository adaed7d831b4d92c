import type { FastifyInstance } from 'fastify'
import { type Bundle, CACHE_DIR, findBundle } from './bundle/bundle.ts'

/** The key under which one process at a time makes the bundle. */
const LOCK = 'console bundle'

/** Finds the bundle, or makes it if sources are newer. An older bundle is used if no new one can be made. */
async function loadBundle ({ log, workers }: FastifyInstance): Promise<Bundle> {
  const found = await findBundle()
  if (found?.isFresh === true) return found.bundle
  return await workers.runAlone(LOCK, async () => {
    const former = await findBundle()
    if (former?.isFresh === true) return former.bundle
    try {
      const { makeBundle } = await import('./bundle/make-bundle.ts')
      return await makeBundle(CACHE_DIR)
    } catch (err) {
      if (former === null) throw err
      log.warn({ err }, 'the web pages could not be bundled; the former ones are served')
      return former.bundle
    }
  })
}

/** Creates the service that serves the pages. */
export function createConsole (app: FastifyInstance) {
  let loading: Promise<Bundle> | null = null

  return {
    /** Returns the bundle; the first call may make it. A failed attempt is repeated at the next call. */
    async load (): Promise<Bundle> {
      loading ??= loadBundle(app).catch((err: unknown) => {
        loading = null
        throw err
      })
      return await loading
    }
  }
}
export type Console = ReturnType<typeof createConsole>
