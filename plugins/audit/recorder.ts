import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parsedBody } from '../../core/web/parsed-body.ts'
import type { AuditEventName } from './log.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What is kept on record each time the route did what it was asked for. */
    audit?: AuditEventName
  }
}

/** What says which thing is meant. Nothing else of a body is kept: it may hold secrets. */
const NAMED = new Set(['id', 'session_id', 'channel_id', 'saves', 'states', 'type', 'name', 'platforms', 'platform_ids',
  'fs_slug', 'slug', 'exclusion_type', 'exclusion_value', 'firmware', 'roms', 'rom_id', 'file_id', 'delete_from_fs', 'permanently'])

const asRecord = (value: unknown): object => typeof value === 'object' && value !== null ? value : {}
const toText = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value)

/** To what a request did something: what its path names, or the ids that its body lists. */
function toDetails ({ params, body, query }: FastifyRequest): Record<string, string> {
  const given = { ...asRecord(query), ...asRecord(parsedBody(body)), ...asRecord(params) }
  const named = Object.entries(given).filter(([name]) => NAMED.has(name))
  return Object.fromEntries(named.map(([name, value]) => [name, toText(value)]))
}

/** Keeps on record what routes with an `audit` did. */
export function recordRoutes (app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    const { audit: event, url: route } = request.routeOptions.config
    if (event === undefined || reply.statusCode >= 300) return
    await app.audit.record({
      event, user: request.caller, address: request.ip, details: { route, ...toDetails(request) }
    })
  })
}
