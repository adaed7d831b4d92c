import '@fastify/cookie'
import rateLimit from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../errors.ts'
import { networkOf } from '../config/networks.ts'

/** Limits for guests, by network and web worker. Other callers are not limited here. */
export interface GuestLimits {
  /** Apps load covers without a credential, a whole screen of them at once and one screen after the other. */
  requestsPerMinute: number
  /** The largest body of a public route; these routes take no more than a form. */
  bodyMaxBytes: number
  /** The time limit of a body, including one that is refused and only read to its end. */
  bodyMs: number
}

const GUEST_LIMITS: GuestLimits = { requestsPerMinute: 6_000, bodyMaxBytes: 64 * 1_024, bodyMs: 60_000 }
const MINUTE_MS = 60_000
/** The most networks that are counted. */
const NETWORKS_MAX = 20_000

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request of a guest. @throws ApiError TOO_MANY_REQUESTS */
    limitGuest (request: FastifyRequest): Promise<void>
  }
}

function limitBodyTime ({ raw }: FastifyRequest, ms: number): void {
  if (raw.complete) return
  const timer = setTimeout(() => {
    if (!raw.complete) raw.destroy()
  }, ms).unref()
  raw.once('close', () => { clearTimeout(timer) })
}

export default fp<Partial<GuestLimits>>(async (app, options) => {
  const limits = { ...GUEST_LIMITS, ...options }
  await app.register(rateLimit, { global: false, cache: NETWORKS_MAX })
  const count = app.createRateLimit({
    max: limits.requestsPerMinute, timeWindow: MINUTE_MS, keyGenerator: ({ ip }) => networkOf(ip)
  })
  app.addHook('onRoute', (route) => {
    if (route.config?.public === true) route.bodyLimit ??= limits.bodyMaxBytes
  })
  app.decorate('limitGuest', async (request) => {
    limitBodyTime(request, limits.bodyMs)
    const counted = await count(request)
    if (counted.isAllowed || !counted.isExceeded) return
    throw new ApiError('TOO_MANY_REQUESTS', undefined, { retryAfterSeconds: counted.ttlInSeconds })
  })
}, { name: 'limits', fastify: '5.x' })
