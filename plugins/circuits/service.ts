import type { FastifyInstance } from 'fastify'
import { type Breaker, CircuitBreaker } from './breaker.ts'

type RefusedListener = (provider: string, reason: string) => Promise<void>

/**
 * Creates one breaker per provider for the life of the process, because a scan then does not hammer the providers that
 * failed in the last one.
 */
export function createCircuits (app: FastifyInstance) {
  const breakers = new Map<string, Breaker>()
  const listeners: RefusedListener[] = []
  /** Providers already reported to listeners, because nothing changes until its settings do. */
  const reported = new Set<string>()

  function reportRefusal (key: string, reason: string): void {
    if (reported.has(key)) return
    reported.add(key)
    for (const listener of listeners) {
      listener(key, reason).catch((err: unknown) => { app.log.error({ err, provider: key }, 'refused credentials could not be reported') })
    }
  }

  function create (key: string): Breaker {
    const log = app.log.child({ provider: key })
    const breaker = new CircuitBreaker(Date.now, (circuit, cause) => {
      log.warn(circuit, 'provider is not called any more')
      app.registry.setRefused(key, cause === 'credentials')
      if (cause === 'credentials') reportRefusal(key, circuit.reason ?? '')
    }, () => { app.registry.setRefused(key, false) })
    breakers.set(key, breaker)
    return breaker
  }

  return {
    /** Calls the listener once for each provider that refuses its credentials. */
    onRefused: (listener: RefusedListener) => { listeners.push(listener) },

    /** Returns the breakers that were needed so far, by provider. */
    list: (): ReadonlyMap<string, Breaker> => breakers,

    /** Closes the circuit of a provider, because the provider was loaded again with other settings. */
    reset (key: string): void {
      breakers.delete(key)
      reported.delete(key)
      app.registry.setRefused(key, false)
    },

    /** Returns the breaker of a provider. */
    of: (key: string): Breaker => breakers.get(key) ?? create(key)
  }
}
