import type { OutgoingNotification } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { ApiError, badRequest } from '../../../core/errors.ts'
import type { CallResult } from './channel-failures.ts'
import { DEFAULT_TIMEOUT_MS, type Host } from './channel-host.ts'
import type { ChannelSubject } from './http.ts'
import type { CheckedSettings } from '../sealed-settings.ts'

type HostCall =
  | { kind: 'inspect', subject: ChannelSubject }
  | { kind: 'deliver', subject: ChannelSubject, notification: OutgoingNotification }
  | { kind: 'confirm', subject: ChannelSubject, code: string }
  | { kind: 'services', subject: ChannelSubject }
  | { kind: 'parse', subject: ChannelSubject, url: string }

const QUEUE = 'channel-calls'
/** Purpose of the seal of calls. Messages stay in the queue for a day, so settings and codes in them are sealed. */
const PURPOSE = 'channel-call'
const CONCURRENCY = 4
const TIMEOUT_SECONDS = 150
/** Allowance for the way through the queue and back. */
const QUEUE_MS = 10_000

async function callHost (host: Host, call: HostCall, signal: AbortSignal): Promise<CallResult<unknown>> {
  switch (call.kind) {
    case 'inspect': return await host.inspect(call.subject, signal)
    case 'deliver': return await host.deliver(call.subject, call.notification, signal)
    case 'confirm': return await host.confirm(call.subject, call.code, signal)
    case 'services': return await host.services(call.subject, signal)
    case 'parse': return await host.parse(call.subject, call.url, signal)
  }
}

/** Calls plugins in the scan worker for a waiting request. @throws ApiError UNAVAILABLE if no worker runs */
export function createCalls (app: FastifyInstance, host: Host) {
  const seal = (value: unknown) => ({ sealed: app.secrets.seal(PURPOSE, JSON.stringify(value)) })
  const open = (value: unknown): unknown => {
    const { sealed } = value as { sealed: string }
    const text = app.secrets.open(PURPOSE, sealed)
    if (text !== null) return JSON.parse(text)
    throw new ApiError('UNAVAILABLE', 'The scan worker has a different key; set the same SVC_AUTH_SECRET_KEY for all processes')
  }

  app.jobs.define<{ sealed: string }>(QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async (input, signal) => seal(await callHost(host, open(input) as HostCall, signal))
  })

  /**
   * Runs one call per user at a time, because a slow destination of one user must not block the worker for all others.
   */
  async function callOnce<Value> (userId: number, call: HostCall): Promise<CallResult<Value>> {
    const { timeoutMs } = app.registry.channels.get(call.subject.type)?.definition.limits ?? {}
    const limitMs = (timeoutMs ?? DEFAULT_TIMEOUT_MS) + QUEUE_MS
    const answered = await app.jobs.request(QUEUE, seal(call), limitMs, { group: `user:${userId}` })
    return open(answered) as CallResult<Value>
  }

  async function require<Value> (userId: number, call: HostCall): Promise<Value> {
    const outcome = await callOnce<Value>(userId, call)
    if (!outcome.ok) throw badRequest(outcome.failure.message)
    return outcome.value
  }

  /** Returns a subject for a channel type without a channel. */
  const subjectOf = (type: string): ChannelSubject => ({ type, settings: {}, secret_keys: [], is_admin: true })

  return {
    /** @throws ApiError BAD_REQUEST for settings that cannot be used. */
    inspect: (userId: number, subject: ChannelSubject) => require<CheckedSettings>(userId, { kind: 'inspect', subject }),
    deliver: (userId: number, subject: ChannelSubject, notification: OutgoingNotification) =>
      callOnce<null>(userId, { kind: 'deliver', subject, notification }),
    confirm: (userId: number, subject: ChannelSubject, code: string) => callOnce<null>(userId, { kind: 'confirm', subject, code }),
    /** @throws ApiError BAD_REQUEST with the message of the plugin. */
    services: (userId: number, type: string) =>
      require<unknown[]>(userId, { kind: 'services', subject: subjectOf(type) }),
    /** Returns null for a URL that no service understands. @throws ApiError BAD_REQUEST with the reason */
    parse: (userId: number, type: string, url: string) =>
      require<unknown>(userId, { kind: 'parse', subject: subjectOf(type), url })
  }
}
export type Calls = ReturnType<typeof createCalls>
