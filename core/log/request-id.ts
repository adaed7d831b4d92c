import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { bindToRequests } from '../request-context.ts'

/** The header by which proxies, clients and logs identify a request. */
export const REQUEST_ID_HEADER = 'x-request-id'
/** The field of log lines with the request's id; Fastify's own name for it. */
export const REQUEST_ID_FIELD = 'reqId'
/**
 * The form in which proxies create ids: UUIDs, hex, `Root=1-67891233-abcdef`. Excludes characters with a meaning to a
 * terminal or a page.
 */
const WELL_FORMED = /^[\w.:+/=@-]{1,128}$/

/** Holds the id while code runs for its request. */
interface Holder { id: string | undefined }

declare module 'fastify' {
  interface FastifyRequest { idHolder: Holder }
}

const current = new AsyncLocalStorage<Holder | undefined>()

/** Returns the id that a request came with, or a new one. */
export function readRequestId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER]
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : crypto.randomUUID()
}

/** Returns the id of the request that the calling code runs for; undefined if there is none. */
export const currentRequestId = (): string | undefined => current.getStore()?.id

/** Runs work for a request that arrived in another process. Work that it leaves to run later has no request. */
export async function asRequest<T> (id: string | undefined, work: () => Promise<T>): Promise<T> {
  const holder: Holder = { id }
  try {
    return await current.run(holder, work)
  } finally {
    holder.id = undefined
  }
}

/** Sends each request's id in its response, and makes it available to all code that runs for the request. */
export function traceRequests (app: FastifyInstance): void {
  bindToRequests(app, 'idHolder', current, ({ id }, reply) => {
    const holder: Holder = { id }
    reply.header(REQUEST_ID_HEADER, id)
    // Connections and timers started meanwhile live on, but no longer belong to the request.
    reply.raw.once('finish', () => { holder.id = undefined })
    return holder
  })
}
