import { createHash } from 'node:crypto'
import { RateLimitedError, type OutgoingNotification } from '@svc/plugin-sdk'
import { createScrub, parseObject, toDeliveryError, toRefusal, type Scrub } from './responses.ts'
import type { Fields } from './form.ts'
import { invalidField } from './fields.ts'
import { type Message, renderMessage } from './render.ts'
import type { SendRequest, Service, ServiceRequest } from './service.ts'
import type { AppriseContext } from './settings.ts'
import { readValues } from './values.ts'

// The server's limits for channels: 15 s from connecting to the last byte, 64 KiB, no redirect. The host retries
// a delivery as a whole.
const REQUEST_LIMITS = { timeoutMs: 15_000, maxBytes: 65_536, redirects: 0 }
/** Longer than all attempts to deliver one notification take together. */
const SENT_MS = 60 * 60 * 1000

const SAMPLE: OutgoingNotification = {
  event: 'notification',
  id: 0,
  kind: 'custom',
  level: 'info',
  title: 'Test',
  body: '',
  url: null,
  data: {},
  actor: null,
  created_at: new Date(0).toISOString()
}

/**
 * Delivers a notification to every target of a channel.
 *
 * @throws the result of `toDeliveryError` for a failure
 */
export async function sendNotification (
  service: Service, fields: Fields, notification: OutgoingNotification, ctx: AppriseContext
): Promise<void> {
  const message = renderMessage(notification, service.rendering)
  const askToPrepare = createAsk(service, createScrub(service, fields), ctx)
  const found = await service.prepare?.(readValues(service, fields), askToPrepare)
  const complete = { ...fields, ...found }
  const values = readValues(service, complete)
  const scrub = createScrub(service, fields, createScrub(service, complete))
  const ask = createAsk(service, scrub, ctx, service.isAccepted === undefined)
  const key = createHash('sha256').update(JSON.stringify([message.id, service.id, fields])).digest('base64url')
  const requests = buildRequests(service, complete, message)
  try {
    await sendAll(requests, (request) => deliverOne(service, request, ask, scrub), key, ctx)
  } finally {
    // An error is only logged, because the session expires by itself.
    await service.finish?.(values, createAsk(service, scrub, ctx)).catch((err: unknown) => { ctx.log.warn({ err }, 'a session could not be ended') })
  }
}

/** @throws InvalidSettingsError when these fields yield an invalid request */
export function checkRequests (service: Service, fields: Fields): void {
  buildRequests(service, fields, renderMessage(SAMPLE, service.rendering))
}

function buildRequests (service: Service, fields: Fields, message: Message): readonly ServiceRequest[] {
  const requests = service.toRequests(readValues(service, fields), message)
  if (requests.every(({ url }) => URL.canParse(url))) return requests
  throw invalidField(service, 'has an invalid host', 'correct the host')
}

/** @param truncate true if the status of a response says everything, so that its body may be long or break off */
function createAsk (
  service: Service, scrub: Scrub, { http, signal }: AppriseContext, truncate = false
): SendRequest {
  return async ({ url, ...request }) => {
    try {
      const response = await http.request(url, { method: 'POST', ...request, ...REQUEST_LIMITS, retry: false, truncate })
      const text = response.text()
      return { status: response.status, text, json: parseObject(text) }
    } catch (err) {
      signal.throwIfAborted()
      throw toDeliveryError(err, service, scrub)
    }
  }
}

async function deliverOne (service: Service, request: ServiceRequest, ask: SendRequest, scrub: Scrub): Promise<void> {
  const reply = await ask(request)
  if (service.isAccepted?.(reply) === false) throw toRefusal(reply, service.name, scrub)
}

/** Sends all requests and caches the reached targets, because a retry must not notify them twice. */
async function sendAll (
  requests: readonly ServiceRequest[], send: (request: ServiceRequest) => Promise<void>, key: string,
  ctx: AppriseContext
): Promise<void> {
  const cached = requests.length > 1 ? await ctx.cache.get(key) : undefined
  const done = new Set<unknown>(Array.isArray(cached) ? cached : [])
  const failures: unknown[] = []
  for (const [index, request] of requests.entries()) {
    if (done.has(index)) continue
    try {
      await send(request)
      done.add(index)
    } catch (err) {
      ctx.signal.throwIfAborted()
      failures.push(err)
      if (err instanceof RateLimitedError) break
    }
  }
  if (failures.length === 0) return cached === undefined ? undefined : await ctx.cache.delete(key)
  if (done.size > 0) await ctx.cache.set(key, [...done], SENT_MS)
  // A requested pause takes precedence.
  throw failures.find((err) => err instanceof RateLimitedError) ?? failures[0]
}
