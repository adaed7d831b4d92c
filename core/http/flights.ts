/** Requests under way. Equal ones share a single exchange, which goes on until its last caller has left. */
export interface Flights<Result> {
  /**
   * @param key equal for requests that can share; null for one that stays alone
   * @throws the reason of `signal` as soon as that is aborted
   */
  join (key: string | null, signal: AbortSignal, start: (signal: AbortSignal) => Promise<Result>): Promise<Result>
}

interface Flight<Result> {
  readonly promise: Promise<Result>
  readonly controller: AbortController
  callers: number
}

export function createFlights<Result> (): Flights<Result> {
  const flights = new Map<string, Flight<Result>>()

  function open (key: string | null, start: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const controller = new AbortController()
    const flight = { promise: start(controller.signal), controller, callers: 0 }
    if (key === null) return flight
    flights.set(key, flight)
    const close = () => { if (flights.get(key) === flight) flights.delete(key) }
    flight.promise.then(close, close)
    return flight
  }

  function leave (key: string | null, flight: Flight<Result>, reason: unknown): void {
    flight.callers--
    if (flight.callers > 0) return
    if (key !== null && flights.get(key) === flight) flights.delete(key)
    flight.controller.abort(reason)
  }

  return {
    async join (key, signal, start) {
      signal.throwIfAborted()
      const flight = (key === null ? undefined : flights.get(key)) ?? open(key, start)
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
