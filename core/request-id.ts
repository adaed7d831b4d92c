import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { bindToRequests } from './request-context.ts'

/** By which proxies, clients and logs know a request. */
export const REQUEST_ID_HEADER = 'x-request-id'
/** Where log lines have it; Fastify's own name for it. */
export const REQUEST_ID_FIELD = 'reqId'
/** As proxies make them: UUIDs, hex, `Root=1-67891233-abcdef`. Nothing that means something to a terminal or a page. */
const WELL_FORMED = /^[\w.:+/=@-]{1,128}$/

/** The id for as long as code that runs for its request has it. */
interface Holder { id: string | undefined }

declare module 'fastify' {
  interface FastifyRequest { idHolder: Holder }
}

const current = new AsyncLocalStorage<Holder | undefined>()

/** The id that a request came with, or a new one. */
export function readRequestId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER]
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : crypto.randomUUID()
}

/** The request on whose behalf the code that asks runs; undefined for none. */
export const currentRequestId = (): string | undefined => current.getStore()?.id

/** Runs work on behalf of a request that came to another process. What it leaves to run later is nobody's. */
export async function asRequest<T> (id: string | undefined, work: () => Promise<T>): Promise<T> {
  const holder: Holder = { id }
  try {
    return await current.run(holder, work)
  } finally {
    holder.id = undefined
  }
}

/** Tells each request's id in its answer, and to all code that runs for it. */
export function traceRequests (app: FastifyInstance): void {
  bindToRequests(app, 'idHolder', current, ({ id }, reply) => {
    const holder: Holder = { id }
    reply.header(REQUEST_ID_HEADER, id)
    // Connections and timers that were begun meanwhile live on, and are not the request's any more.
    reply.raw.once('finish', () => { holder.id = undefined })
    return holder
  })
}
