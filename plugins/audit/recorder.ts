import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parsedBody } from '../../core/web/parsed-body.ts'
import type { AuditEventName } from './log.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The event to record each time the route succeeds. */
    audit?: AuditEventName
  }
}

/**
 * Names of the parameters that identify the object of a request. No other part of a body is recorded, because it may
 * hold secrets.
 */
const NAMED = new Set(['id', 'session_id', 'channel_id', 'saves', 'states', 'type', 'name', 'platforms', 'platform_ids',
  'fs_slug', 'slug', 'exclusion_type', 'exclusion_value', 'firmware', 'roms', 'rom_id', 'file_id', 'delete_from_fs', 'permanently'])

/** Names of parameters of the path that identify a plugin. A body may hold settings of these names. */
const PATH_NAMED = new Set(['kind', 'key'])

const asRecord = (value: unknown): object => typeof value === 'object' && value !== null ? value : {}
const toText = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value)

/** Returns the object of a request: the parameters of its path, or the ids in its body. */
function toDetails ({ params, body, query }: FastifyRequest): Record<string, string> {
  const given = { ...asRecord(query), ...asRecord(parsedBody(body)), ...asRecord(params) }
  const inPath = Object.entries(asRecord(params)).filter(([name]) => PATH_NAMED.has(name))
  const named = [...Object.entries(given).filter(([name]) => NAMED.has(name)), ...inPath]
  return Object.fromEntries(named.map(([name, value]) => [name, toText(value)]))
}

/** Records the requests to routes with an `audit` that succeeded. */
export function recordRoutes (app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    const { audit: event, url: route } = request.routeOptions.config
    if (event === undefined || reply.statusCode >= 300) return
    await app.audit.record({
      event, user: request.caller, address: request.ip, details: { route, ...toDetails(request) }
    })
  })
}
