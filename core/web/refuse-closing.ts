import fp from 'fastify-plugin'
import { ApiError } from '../errors.ts'

/** The time until another process accepts the client's next connection. */
const RETRY_AFTER_SECONDS = 2

/**
 * Refuses requests that arrive on open connections while the process closes. Needs `return503OnClosing: false`, because
 * Fastify's own response has no `Retry-After` and another body.
 */
export default fp(async (app) => {
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })
  app.addHook('onRequest', (_request, _reply, done) => {
    if (isClosing) done(new ApiError('UNAVAILABLE', 'This process of the server is closing; try again', { retryAfterSeconds: RETRY_AFTER_SECONDS }))
    else done()
  })
}, { name: 'refuse-closing', fastify: '5.x', dependencies: ['error-handler'] })
