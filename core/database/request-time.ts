import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import { bindToRequests } from '../request-context.ts'
import { OUT_OF_TIME } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the database may work for a request where that grows with the library; each statement stays short. */
    databaseMs?: number
  }
  interface FastifyRequest { databaseTime: RequestTime }
}

/**
 * What one request may spend on the database: waiting for connections, and holding them. Limits of single waits add up,
 * and a request that is handed from one to the next would be open for longer than anybody waits.
 */
export class RequestTime {
  #leftMs: number
  #since = 0
  /** What is told when the time is spent; while there is any, time goes by. */
  readonly #open = new Set<() => void>()
  /** One for all of a request: most end with all of them still to come. */
  #timer: NodeJS.Timeout | undefined

  constructor (limitMs: number) {
    this.#leftMs = limitMs
  }

  get leftMs (): number {
    return this.#open.size === 0 ? this.#leftMs : this.#leftMs - (performance.now() - this.#since)
  }

  /** Nobody waits any more: what goes on has no end to keep. */
  lift (): void {
    this.#leftMs = Infinity
    clearTimeout(this.#timer)
  }

  /** Counts until the function that it returns is called; what goes on at once counts once. */
  spend (onGone: () => void): () => void {
    if (this.#open.size === 0) this.#since = performance.now()
    this.#open.add(onGone)
    if (this.#leftMs !== Infinity) this.#timer ??= this.#watch()
    return () => {
      if (this.#open.delete(onGone) && this.#open.size === 0) this.#leftMs -= performance.now() - this.#since
    }
  }

  /** Looks again when all the time can have been spent at the soonest. */
  #watch (): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (this.#open.size === 0) return
      if (this.leftMs > 0) this.#timer = this.#watch()
      else for (const onGone of [...this.#open]) onGone()
    }, Math.max(1, this.leftMs))
  }
}

const current = new AsyncLocalStorage<RequestTime | undefined>()

/** Runs what has a limit of its own. */
export const apartFromRequest = <T>(work: () => T): T => current.run(undefined, work)

/** Undefined beside requests. */
export const timeOfRequest = () => current.getStore()

export const outOfTime = () => Object.assign(new Error('The request has spent its time on the database'), { code: OUT_OF_TIME })

/** Gives every request of an app so much time with the database, unless its route says otherwise. */
export function limitRequests (app: FastifyInstance, limitMs: number): void {
  bindToRequests(app, 'databaseTime', current, ({ routeOptions: { config } }, reply) => {
    const time = new RequestTime(config.databaseMs ?? limitMs)
    // What goes on after the answer, timers included, is not the request's any more.
    reply.raw.once('close', () => { time.lift() })
    return time
  })
}
