import type { FastifyInstance } from 'fastify'
import '../jobs/workers.ts'
import { SAFE_METHODS } from './auth.ts'
import { CALLERS_CHANNEL, type CallerCache, createCallerCache } from './caller-cache.ts'

/** Callers that an app keeps until the database says that what callers may do has changed. */
export function openCallerCache (app: FastifyInstance): CallerCache {
  const kept = createCallerCache()
  app.addHook('onReady', async () => { await app.workers.hear(CALLERS_CHANNEL, kept.forget) })
  // Who changed something finds it changed with the next request, whether or not the word has come by then.
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (!SAFE_METHODS.has(request.method)) kept.forget()
    done(null, payload)
  })
  return kept
}
