/** Running requests. Equal requests share a single exchange, which continues until its last caller has left. */
export interface SharedRequests<Result> {
  /**
   * Joins an equal running request or starts a new one.
   *
   * @param key equal for requests that can share; null for one that is never shared
   * @param start runs the request under a controller that it may abort itself
   * @throws the reason of `signal` as soon as it aborts
   */
  join (key: string | null, signal: AbortSignal, start: (ending: AbortController) => Promise<Result>): Promise<Result>
}

interface SharedRequest<Result> {
  readonly promise: Promise<Result>
  readonly ending: AbortController
  callers: number
}

/** @param lifetime aborts all running requests */
export function createSharedRequests<Result> (lifetime: AbortSignal): SharedRequests<Result> {
  const requests = new Map<string | symbol, SharedRequest<Result>>()
  lifetime.addEventListener('abort', () => {
    for (const { ending } of requests.values()) ending.abort(lifetime.reason)
  }, { once: true })

  function open (key: string | symbol, start: (ending: AbortController) => Promise<Result>): SharedRequest<Result> {
    const ending = new AbortController()
    const request = { promise: start(ending), ending, callers: 0 }
    requests.set(key, request)
    const close = () => { if (requests.get(key) === request) requests.delete(key) }
    request.promise.then(close, close)
    return request
  }

  function leave (key: string | symbol, request: SharedRequest<Result>, reason: unknown): void {
    request.callers--
    if (request.callers > 0) return
    if (requests.get(key) === request) requests.delete(key)
    request.ending.abort(reason)
  }

  return {
    async join (given, signal, start) {
      lifetime.throwIfAborted()
      signal.throwIfAborted()
      const key = given ?? Symbol('alone')
      const request = requests.get(key) ?? open(key, start)
      request.callers++
      const aborted = Promise.withResolvers<never>()
      const onAbort = () => {
        leave(key, request, signal.reason)
        aborted.reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return await Promise.race([request.promise, aborted.promise])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    }
  }
}
