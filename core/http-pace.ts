import PQueue from 'p-queue'

/** How fast a service may be asked. */
export interface Pace {
  /** Requests at once. */
  concurrency?: number | undefined
  /** Requests per second. */
  perSecond?: number | undefined
}

/** Has work wait for its turn. @throws the reason of `signal`, and what the work throws */
export type Turns = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** All requests that share the turns keep to the pace together. */
export function createTurns ({ concurrency, perSecond }: Pace): Turns {
  if (concurrency === undefined && perSecond === undefined) return (work) => work()
  const queue = new PQueue({
    concurrency: concurrency ?? Infinity,
    ...(perSecond === undefined ? {} : { intervalCap: perSecond, interval: 1_000, strict: true })
  })
  return (work, signal) => queue.add(work, { signal })
}
