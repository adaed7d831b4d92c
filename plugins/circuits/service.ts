import type { FastifyInstance } from 'fastify'
import { type Breaker, createBreaker } from './breaker.ts'

/**
 * One breaker per provider for as long as the process runs, so that a scan does not begin with hammering what the last
 * one found dead.
 */
export function createCircuits (app: FastifyInstance) {
  const breakers = new Map<string, Breaker>()

  function create (key: string): Breaker {
    const log = app.log.child({ provider: key })
    const breaker = createBreaker(Date.now, (circuit) => { log.warn(circuit, 'provider is not asked any more') })
    breakers.set(key, breaker)
    return breaker
  }

  return {
    /** Those that were needed so far, by provider. */
    list: (): ReadonlyMap<string, Breaker> => breakers,

    /** The breaker of a provider. */
    of: (key: string): Breaker => breakers.get(key) ?? create(key)
  }
}
