import type { FastifyInstance } from 'fastify'
import '../jobs/workers.ts'
import { SAFE_METHODS } from './auth.ts'
import { CALLERS_CHANNEL, type CallerCache, createCallerCache } from './caller-cache.ts'

/**
 * Creates the caller cache of an app. A notification from the database clears the cache when the rights of callers
 * change.
 */
export function openCallerCache (app: FastifyInstance): CallerCache {
  const cache = createCallerCache()
  app.addHook('onReady', async () => { await app.workers.listen(CALLERS_CHANNEL, cache.clear) })
  // Clears the cache after every write, because a caller's next request must see its own change even before the
  // notification arrives.
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (!SAFE_METHODS.has(request.method)) cache.clear()
    done(null, payload)
  })
  return cache
}
