/** Running requests. Equal requests share a single exchange, which continues until its last caller has left. */
export interface Flights<Result> {
  /**
   * Joins an equal running request or starts a new one.
   *
   * @param key equal for requests that can share; null for one that is never shared
   * @param start runs the request under a controller that it may abort itself
   * @throws the reason of `signal` as soon as it aborts
   */
  join (key: string | null, signal: AbortSignal, start: (ending: AbortController) => Promise<Result>): Promise<Result>
}

interface Flight<Result> {
  readonly promise: Promise<Result>
  readonly ending: AbortController
  callers: number
}

/** @param life aborts all running requests */
export function createFlights<Result> (life: AbortSignal): Flights<Result> {
  const flights = new Map<string | symbol, Flight<Result>>()
  life.addEventListener('abort', () => {
    for (const { ending } of flights.values()) ending.abort(life.reason)
  }, { once: true })

  function open (key: string | symbol, start: (ending: AbortController) => Promise<Result>): Flight<Result> {
    const ending = new AbortController()
    const flight = { promise: start(ending), ending, callers: 0 }
    flights.set(key, flight)
    const close = () => { if (flights.get(key) === flight) flights.delete(key) }
    flight.promise.then(close, close)
    return flight
  }

  function leave (key: string | symbol, flight: Flight<Result>, reason: unknown): void {
    flight.callers--
    if (flight.callers > 0) return
    if (flights.get(key) === flight) flights.delete(key)
    flight.ending.abort(reason)
  }

  return {
    async join (given, signal, start) {
      life.throwIfAborted()
      signal.throwIfAborted()
      const key = given ?? Symbol('alone')
      const flight = flights.get(key) ?? open(key, start)
      flight.callers++
      const aborted = Promise.withResolvers<never>()
      const onAbort = () => {
        leave(key, flight, signal.reason)
        aborted.reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return await Promise.race([flight.promise, aborted.promise])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    }
  }
}
