import type { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Creates a value for each request, which all code that runs for the request finds in `storage`. */
export function bindToRequests<Key extends keyof FastifyRequest> (
  app: FastifyInstance, key: Key, storage: AsyncLocalStorage<FastifyRequest[Key] | undefined>,
  begin: (request: FastifyRequest, reply: FastifyReply) => FastifyRequest[Key]
): void {
  app.decorateRequest(key)
  app.addHook('onRequest', (request, reply, done) => {
    const value = begin(request, reply)
    request[key] = value
    storage.run(value, done)
  })
  // The body arrives in the async context of the connection, not in that of the request.
  app.addHook('preValidation', ({ [key]: value }, _reply, done) => {
    if (storage.getStore() === value) done()
    else storage.run(value, done)
  })
}
