import { HttpStatusError, RateLimitedError, ServiceDownError, type Logger } from '@svc/plugin-sdk'
import type { Dispatcher } from 'undici'
import { errorCode } from '../files/fs-error.ts'
import { AddressRefusedError, checkUrl, type AddressRules } from './addresses.ts'
import { BadBodyError, FileWriteError, readStart, type IncomingBody } from './body.ts'
import { explainTls } from './explain-tls.ts'
import type { Mask } from './mask.ts'
import { prepareRedirect, type PreparedRequest } from './request.ts'
import { parseRetryAfter, type Outcome } from './retry.ts'

/** Settings that all exchanges of one client share. */
export interface Wire {
  readonly dispatcher: () => Promise<Dispatcher>
  readonly rules: AddressRules
  /** Returns the URL to which a request is really sent. */
  readonly target: (url: URL) => URL
  readonly mask: Mask
  readonly log: Logger
  readonly onEnd: (ms: number, failure: Error | null) => void
  readonly now: () => number
}

export interface Limits {
  /** Milliseconds from connecting to the last byte, redirects included. */
  readonly timeoutMs: number
  readonly redirects: number
  /** Statuses outside 2xx that are accepted as responses. */
  readonly accept: readonly number[]
  /** Rules for the addresses, which replace those of the client. */
  readonly rules: AddressRules
}

/** A response whose body is still arriving. */
export interface IncomingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: IncomingBody
}

/** Turns an accepted response into a result and counts the bytes of its body. */
export type Reader<Result> = (response: IncomingResponse) => Promise<{ result: Result, bytes: number }>

/** A request with its limits and the reader of its response. */
export interface Attempt<Result> {
  readonly request: PreparedRequest
  readonly limits: Limits
  readonly read: Reader<Result>
}

const LONGEST_TIMER_MS = 2 ** 31 - 1
const ERROR_BODY_BYTES = 16 * 1024
const ERROR_BODY_CHARACTERS = 2_000
const REDIRECT_BODY_BYTES = 16 * 1024

/**
 * Sends a request once and follows its redirects. Failures are part of the returned outcome.
 *
 * @param ending aborts the exchange, and is aborted at the timeout
 * @throws only the reason of an abort from outside
 */
export async function exchange<Result> (
  attempt: Attempt<Result>, ending: AbortController, wire: Wire
): Promise<Outcome<Result>> {
  const startedAt = wire.now()
  const outcome = await exchangeInTime(attempt, ending, wire)
  wire.onEnd(wire.now() - startedAt, 'failure' in outcome ? outcome.failure : null)
  return outcome
}

async function exchangeInTime<Result> (
  attempt: Attempt<Result>, ending: AbortController, wire: Wire
): Promise<Outcome<Result>> {
  const { request, limits } = attempt
  const { signal } = ending
  let isLate = false
  const timeout = setTimeout(() => {
    isLate = true
    ending.abort(new Error('The time limit of the request is over'))
  }, Math.min(limits.timeoutMs, LONGEST_TIMER_MS))
  try {
    return await follow(attempt, signal, wire)
  } catch (err) {
    if (isLate) return fail(timeoutError(request, limits, wire))
    signal.throwIfAborted()
    return describeFailure(err, request, wire)
  } finally {
    clearTimeout(timeout)
  }
}

async function follow<Result> (
  attempt: Attempt<Result>, signal: AbortSignal, wire: Wire
): Promise<Outcome<Result>> {
  const { limits } = attempt
  let current = attempt.request
  for (let hops = 0; ; hops++) {
    checkUrl(current.url, { ...wire.rules, ...limits.rules })
    const received = await sendOnce(current, signal, wire)
    try {
      const next = limits.accept.includes(received.response.status) || hops >= limits.redirects
        ? null
        : prepareRedirect(current, received.response.status, received.response.headers['location'], wire.mask)
      if (next === null) return await finishExchange({ ...attempt, request: current }, received, wire)
      await received.stream.dump({ limit: REDIRECT_BODY_BYTES, signal })
      logResponse(current, received, 0, wire)
      current = next
    } finally {
      received.stream.destroy()
    }
  }
}

interface ReceivedResponse {
  readonly response: IncomingResponse
  readonly stream: Dispatcher.ResponseData['body']
  readonly startedAt: number
}

async function sendOnce ({ url, method, headers, body }: PreparedRequest, signal: AbortSignal, wire: Wire):
Promise<ReceivedResponse> {
  const [{ request: send }, dispatcher] = await Promise.all([import('undici'), wire.dispatcher()])
  const startedAt = wire.now()
  // The exchange has the only timer, because undici's timeouts measure pauses, not the whole exchange.
  const response = await send(wire.target(url),
    { method, headers, body, signal, dispatcher, headersTimeout: 0, bodyTimeout: 0 })
  // The reader of the body gets its error; the error of a body without a reader must not end the process.
  response.body.on('error', () => {})
  const responseHeaders = flatten(response.headers)
  return {
    startedAt,
    stream: response.body,
    response: {
      status: response.statusCode,
      headers: responseHeaders,
      body: {
        stream: response.body,
        length: method === 'HEAD' ? null : parseLength(responseHeaders['content-length']),
        encoding: (responseHeaders['content-encoding'] ?? '').trim().toLowerCase()
      }
    }
  }
}

function flatten (headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

function parseLength (header: string | undefined): number | null {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : null
}

async function finishExchange<Result> (
  { request, limits, read }: Attempt<Result>, received: ReceivedResponse, wire: Wire
): Promise<Outcome<Result>> {
  if (isAccepted(received.response.status, limits.accept)) {
    const { result, bytes } = await read(received.response)
    logResponse(request, received, bytes, wire)
    return { result }
  }
  const start = await readStart(received.response.body, ERROR_BODY_BYTES)
  logResponse(request, received, start.byteLength, wire)
  return refuse(request, received.response, start, wire)
}

export function isAccepted (status: number, accept: readonly number[]): boolean {
  return (status >= 200 && status < 300) || accept.includes(status)
}

function refuse (request: PreparedRequest, response: IncomingResponse, start: Buffer, wire: Wire): Outcome<never> {
  const { status, headers } = response
  const retryAfterMs = parseRetryAfter(headers['retry-after'], wire.now())
  const name = `${nameRequest(request, wire.mask)} answered ${status}`
  if (status === 429) {
    const when = retryAfterMs === null ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`
    const failure = new RateLimitedError(`${name}: the service asks to slow down; try again ${when}`, retryAfterMs ?? undefined)
    return { failure, mayRetry: true, retryAfterMs, isPauseRequested: true }
  }
  if (status >= 500) {
    const failure = new ServiceDownError(`${name}: the service is down; try again later`)
    return { failure, mayRetry: status >= 502 && status <= 504, retryAfterMs, isPauseRequested: retryAfterMs !== null }
  }
  const body = wire.mask.text(start.toString('utf8')).slice(0, ERROR_BODY_CHARACTERS)
  return fail(new HttpStatusError(status, `${name}: ${explain(status, headers['location'], wire.mask)}`, body))
}

function explain (status: number, location: string | undefined, mask: Mask): string {
  if (status < 400 && location !== undefined) return `its redirect to '${nameTarget(location, mask)}' is not followed`
  if (status === 401 || status === 403) return 'check the account or key in the configuration'
  if (status === 404 || status === 410) return 'nothing exists at this address; check the address'
  return 'the service does not accept this request'
}

function nameTarget (location: string, mask: Mask): string {
  return URL.canParse(location) ? mask.url(new URL(location)) : mask.text(location)
}

/** Returns method, host and path without secrets, the name of a request in all messages and log lines. */
export function nameRequest ({ method, url }: Pick<PreparedRequest, 'method' | 'url'>, mask: Mask): string {
  return `${method} ${mask.url(url)}`
}

function logResponse (
  { method, url }: PreparedRequest, { response, startedAt }: ReceivedResponse, bytes: number, wire: Wire
): void {
  const ms = Math.round(wire.now() - startedAt)
  const { mask } = wire
  // Getters, because masking is only needed if the line is logged, which is rare.
  wire.log.debug({
    method,
    get host () { return mask.text(url.host) },
    get path () { return mask.path(url) },
    status: response.status,
    ms,
    bytes
  }, 'request answered')
}

function timeoutError (request: PreparedRequest, { timeoutMs }: Limits, wire: Wire): ServiceDownError {
  const name = nameRequest(request, wire.mask)
  return logFailure(new ServiceDownError(`${name} took longer than ${timeoutMs} ms; try again later`), request, wire)
}

/**
 * Describes a failure. Mistakes of the caller and failures of this machine keep their error; all others are the
 * service's.
 */
function describeFailure (err: unknown, request: PreparedRequest, wire: Wire): Outcome<never> {
  if (err instanceof AddressRefusedError || err instanceof FileWriteError) return fail(logFailure(err, request, wire))
  const name = nameRequest(request, wire.mask)
  const reason = wire.mask.text(explainTls(err) ?? findReason(err))
  if (err instanceof BadBodyError) {
    return fail(logFailure(new ServiceDownError(`${name} ${reason}`, { cause: err }), request, wire))
  }
  if (errorCode(err) === 'UND_ERR_INVALID_ARG') return fail(new TypeError(`${name} cannot be sent: ${reason}`))
  const failure = new ServiceDownError(`${name} failed: ${reason}${toAdvice(err, request)}`, { cause: err })
  return { failure: logFailure(failure, request, wire), mayRetry: true, retryAfterMs: null, isPauseRequested: false }
}

/** Returns the remedy for a failed connection; the reason of a failure of TLS has its own. */
function toAdvice (err: unknown, { url }: PreparedRequest): string {
  if (explainTls(err) !== null) return ''
  // A server for https only closes the connection, or answers 400.
  const isClosed = url.protocol === 'http:' && errorCode(err) === 'UND_ERR_SOCKET'
  return `; check that the service can be reached${isClosed ? ', and whether it expects https' : ''}`
}

function fail (failure: Error): Outcome<never> {
  return { failure, mayRetry: false, retryAfterMs: null, isPauseRequested: false }
}

function logFailure<Failure extends Error> (failure: Failure, { method, url }: PreparedRequest, wire: Wire): Failure {
  const { mask } = wire
  wire.log.debug({ method, host: mask.text(url.host), path: mask.path(url), reason: failure.message }, 'request failed')
  return failure
}

/**
 * Returns the reason of an error. A connection tried at several addresses fails with an AggregateError whose own
 * message is empty.
 */
function findReason (err: unknown): string {
  if (err instanceof AggregateError && err.errors.length > 0) return findReason(err.errors[0])
  return err instanceof Error && err.message !== '' ? err.message : errorCode(err) || String(err)
}
