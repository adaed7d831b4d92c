import type { HttpClient } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import type { OutgoingClient } from './http.ts'

/** How fast a service may be asked. */
export interface Pace {
  /** Requests at once. */
  concurrency?: number | undefined
  /** Requests per second. */
  perSecond?: number | undefined
}

function pace (client: HttpClient, queue: PQueue): HttpClient {
  return {
    request: (url, options) => queue.add(() => client.request(url, options)),
    json: (url, options) => queue.add(() => client.json(url, options)),
    text: (url, options) => queue.add(() => client.text(url, options))
  }
}

/** The same client, whose requests wait their turn: all of a plugin's calls share one queue. */
export function paceClient (client: OutgoingClient, { concurrency, perSecond }: Pace): OutgoingClient {
  if (concurrency === undefined && perSecond === undefined) return client
  const queue = new PQueue({
    concurrency: concurrency ?? Infinity,
    ...(perSecond === undefined ? {} : { intervalCap: perSecond, interval: 1_000, strict: true })
  })
  return {
    ...client,
    ...pace(client, queue),
    withSignal (signal) {
      const narrowed = client.withSignal(signal)
      return { ...narrowed, ...pace(narrowed, queue) }
    }
  }
}
