import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import { bindToRequests } from '../request-context.ts'
import { OUT_OF_TIME } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The database time of a request whose work grows with the library; each statement stays short. */
    databaseMs?: number
  }
  interface FastifyRequest { databaseTime: RequestTime }
}

/**
 * The time that one request may spend on the database: waiting for connections and holding them. Limits of single waits
 * add up, so that without a total a request could stay open longer than any client waits.
 */
export class RequestTime {
  #leftMs: number
  #since = 0
  /** Callbacks for the end of the time. The time runs while there is any callback. */
  readonly #open = new Set<() => void>()
  /** One timer for the whole request, because most requests end long before it fires. */
  #timer: NodeJS.Timeout | undefined

  constructor (limitMs: number) {
    this.#leftMs = limitMs
  }

  get leftMs (): number {
    return this.#open.size === 0 ? this.#leftMs : this.#leftMs - (performance.now() - this.#since)
  }

  /** Removes the limit, because nobody waits for the response any more. */
  removeLimit (): void {
    this.#leftMs = Infinity
    clearTimeout(this.#timer)
  }

  /** Counts time until the returned function is called; overlapping work counts once. */
  count (onTimeout: () => void): () => void {
    if (this.#open.size === 0) this.#since = performance.now()
    this.#open.add(onTimeout)
    if (this.#leftMs !== Infinity) this.#timer ??= this.#watch()
    return () => {
      if (this.#open.delete(onTimeout) && this.#open.size === 0) this.#leftMs -= performance.now() - this.#since
    }
  }

  /** Checks again at the earliest time when the limit can be reached. */
  #watch (): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (this.#open.size === 0) return
      if (this.leftMs > 0) this.#timer = this.#watch()
      else for (const onTimeout of [...this.#open]) onTimeout()
    }, Math.max(1, this.leftMs))
  }
}

const current = new AsyncLocalStorage<RequestTime | undefined>()

/** Runs work outside the time limit of the request, because it has its own limit. */
export const outsideRequestTime = <T>(work: () => T): T => current.run(undefined, work)

/** Returns the time of the current request; undefined outside requests. */
export const timeOfRequest = () => current.getStore()

export const outOfTimeError = () => Object.assign(new Error('The request used up its time limit for the database'), { code: OUT_OF_TIME })

/** Limits the time with the database of every request of an app; a route may set another limit. */
export function limitRequests (app: FastifyInstance, limitMs: number): void {
  bindToRequests(app, 'databaseTime', current, ({ routeOptions: { config } }, reply) => {
    const time = new RequestTime(config.databaseMs ?? limitMs)
    // Work that continues after the response, timers included, is not limited.
    reply.raw.once('close', () => { time.removeLimit() })
    return time
  })
}
