import type { HttpClient, RequestOptions } from '@svc/plugin-sdk'
import { DEFAULT_MAX_BYTES } from '../../http/client.ts'
import { createSemaphore } from '../../concurrency/semaphore.ts'

/** The most requests of a plugin at once whose responses are held in memory; the others wait. */
const REQUESTS_MAX = 32
/** The most bytes that these responses may take together: 16 of the default size. */
const RESPONSES_MAX_BYTES = 16 * DEFAULT_MAX_BYTES
/** The most responses at once that are passed on piece by piece, or unpacked on disk. */
const STREAMS_MAX = 8

/** Limits the requests of one plugin that run at once, because this process holds their responses for the plugin. */
export function createRequestLimits () {
  const requests = createSemaphore(REQUESTS_MAX)
  const bytes = createSemaphore(RESPONSES_MAX_BYTES)
  const streams = createSemaphore(STREAMS_MAX)

  /** Returns a client that waits for its turn. @param signal ends the wait */
  return (http: HttpClient, signal: AbortSignal): HttpClient => {
    const hold = <Value>(work: () => Promise<Value>, { maxBytes = DEFAULT_MAX_BYTES }: RequestOptions = {}) =>
      requests.run(() => bytes.run(work, signal, maxBytes), signal)

    async function * holdStream<Piece> (open: () => AsyncIterable<Piece>): AsyncGenerator<Piece> {
      const begun = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<void>()
      const turn = streams.run(async () => {
        begun.resolve()
        await ended.promise
      }, signal)
      await Promise.race([begun.promise, turn])
      try {
        yield * open()
      } finally {
        ended.resolve()
      }
    }

    return {
      ...http,
      request: (url, options) => hold(() => http.request(url, options), options),
      json: (url, options) => hold(() => http.json(url, options), options),
      text: (url, options) => hold(() => http.text(url, options), options),
      stream: (url, options) => holdStream(() => http.stream(url, options)),
      unzip: (url, members, options) => holdStream(() => http.unzip(url, members, options))
    }
  }
}
export type RequestLimits = ReturnType<typeof createRequestLimits>
