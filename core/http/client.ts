import { tmpdir } from 'node:os'
import type { Allowance, Cache, HttpClient, HttpResponse, Logger, RequestOptions } from '@svc/plugin-sdk'
import type { Agent } from 'undici'
import type { AddressRules } from './addresses.ts'
import { BadBodyError, readBody, readTruncated, writeBody } from './body.ts'
import { createAnswerCache, type ResponseContent } from './cache.ts'
import { abortWith } from './abort-with.ts'
import { exchange, isAccepted, nameRequest, type Limits, type Reader, type Wire } from './exchange.ts'
import { createSharedRequests } from './shared-requests.ts'
import { createRoute } from './gateway.ts'
import { createMask } from './mask.ts'
import { createRateLimiter, type RateLimit, type Waiter } from './rate-limit.ts'
import { digestRequest, listParts, prepareRequest, type PreparedRequest } from './request.ts'
import { type ClientResponse, toResponse } from './response.ts'
import type { ShareRate } from './sliding-window.ts'
import { sleep, runWithRetries, type RetryOptions } from './retry.ts'
import { createPipe } from './stream.ts'
import { unzip } from './unzip.ts'

export { FileWriteError } from './body.ts'

export interface HttpClientOptions extends AddressRules {
  /** The key of the plugin that owns the client, as it appears in messages. */
  name: string
  /** The `User-Agent` header, such as `Svc/1.0.0`. */
  userAgent: string
  log: Logger
  /** Values that no log line and no message may contain. */
  secrets?: readonly string[]
  /** The gateway for requests to the public internet, as in createRoute; by default requests are sent directly. */
  gateway?: string | undefined
  /** The rate limit of the service. Shared and cached responses do not count. */
  rateLimit?: RateLimit
  /** Returns the part of a rate for this process; by default the process has the whole rate. */
  shareRate?: ShareRate
  /** A store for responses to requests with `cacheMs`, which outlive a restart. */
  store?: Cache
  /** Aborts every request of the client; the callers get its reason. */
  signal?: AbortSignal
  /** Called with the rate limits and allowances that the service reports in its responses. */
  onLimits?: (limits: RateLimit) => void
  onAllowance?: (allowance: Allowance) => void
  /** The folder for a file while it is unpacked; by default the system's temporary folder. */
  tempDir?: string
  /** Called after each attempt with its duration in milliseconds and its error. */
  onEnd?: Wire['onEnd']
  /** Called with the pause in milliseconds that the service asked for, on 429 and on 5xx with `Retry-After`. */
  onPause?: (ms: number) => void
  /** Replaces the connections, and with them the check of resolved addresses. */
  dispatcher?: Wire['dispatcher']
  /** Replaces the wait between two attempts. */
  sleep?: RetryOptions['sleep']
  random?: () => number
  /** Milliseconds since 1970. */
  now?: () => number
}

export interface DownloadOptions extends
  Pick<RequestOptions, 'query' | 'headers' | 'redirects' | 'retry' | 'timeoutMs' | 'maxBytes'> {
  /**
   * Path of the file, replaced if it exists; its folder must exist. The name ends in `.part` until the file is
   * complete.
   */
  toFile: string
  /** True if a media type, in lower case and without parameters, is accepted; by default every type is. */
  acceptType?: (contentType: string) => boolean
  /** Rules for this request and its redirects, which replace those of the client. */
  rules?: AddressRules
  signal?: AbortSignal
}

export interface Download {
  status: number
  /** In lower case and without parameters; empty if the service sent none. */
  contentType: string
  bytes: number
  path: string
}

/**
 * The HTTP client with downloads. Callers that send equal requests at once get the same `bytes`.
 *
 * @throws besides the errors of HttpClient: AddressRefusedError for an address that may not be reached · the reason of
 * the signal that aborted the work · TypeError for a mistake of the caller, such as an incomplete URL. A response that
 * is too large or wrongly encoded is a ServiceDownError.
 */
export interface DownloadingClient extends HttpClient {
  /**
   * Streams a response to a file; by default at most 64 MiB and two minutes. A failure leaves no file.
   *
   * @throws as `request` does; ServiceDownError also for an unaccepted media type or an empty file · FileWriteError if
   * the file cannot be written
   */
  download (url: string, options: DownloadOptions): Promise<Download>
}

export interface OutgoingClient extends DownloadingClient {
  /**
   * Returns a client with the same connections, rate limit and cache, for work that ends with `signal`.
   *
   * @param options `throwsRateLimits`: report a rate limit at once instead of waiting; `onWait`: as in Waiter
   */
  withSignal (signal: AbortSignal, options?: CallerOptions): DownloadingClient
  /** Aborts running requests and closes all connections. */
  close (): Promise<void>
}

type CallerOptions = Partial<Pick<RetryOptions, 'throwsRateLimits'>> & Pick<Waiter, 'onWait'>

const DEFAULT_TIMEOUT_MS = 30_000
/** The most bytes of a response that does not say otherwise. */
export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024
const DEFAULT_REDIRECTS = 3
const DOWNLOAD_TIMEOUT_MS = 120_000
const DOWNLOAD_MAX_BYTES = 64 * 1024 * 1024
/** Enough for files of hundreds of megabytes over a slow line. */
const STREAM_TIMEOUT_MS = 60 * 60_000
const ZIP_MAX_BYTES = 4 * 1024 ** 3

/**
 * Creates the HTTP client of one plugin, its only access to other servers. It checks every address, limits every
 * response and masks every secret.
 */
export function createHttpClient (options: HttpClientOptions): OutgoingClient {
  const closing = new AbortController()
  const signal = options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal])
  const route = createRoute(options, options.gateway ?? null)
  let agent: Promise<Agent> | undefined
  const openOwn = () => {
    agent ??= openAgent(route.rules)
    return agent
  }
  const dispatcher = options.dispatcher ?? openOwn
  const send = createSender(options, { dispatcher, target: route.target }, signal)

  return {
    ...bind(send, { signal, throwsRateLimits: false }),
    withSignal: (innerSignal, { throwsRateLimits = false, onWait } = {}) =>
      bind(send, { signal: innerSignal, throwsRateLimits, onWait }),
    async close () {
      closing.abort(new Error(`The HTTP client of '${options.name}' is closed`))
      await (await agent)?.destroy()
    }
  }
}

/** Opens the connection agent. Its module is loaded at first use, because most web workers never need it. */
export async function openAgent (rules: AddressRules): Promise<Agent> {
  return (await import('./agent.ts')).createAgent(rules)
}

/** The caller that a request is sent for. */
type Caller = Pick<RetryOptions, 'signal' | 'throwsRateLimits'> & Waiter

/** One call of the client. */
interface Call {
  given: RequestOptions & Pick<DownloadOptions, 'rules'>
  caller: Caller
  /** Aborts the call, and is aborted at its timeout. */
  ending: AbortController
}

interface Sender extends Pick<HttpClient, 'setLimits' | 'setAllowance'> {
  request (url: string, options: RequestOptions, caller: Caller): Promise<HttpResponse>
  stream (url: string, options: RequestOptions, caller: Caller): AsyncIterable<Uint8Array>
  download (url: string, options: DownloadOptions, caller: Caller): Promise<Download>
  tempDir: string
}

function bind (send: Sender, caller: Caller): DownloadingClient {
  const { signal } = caller
  return {
    request: (url, options = {}) => send.request(url, options, caller),
    async json (url, options = {}) {
      const headers = { accept: 'application/json', ...options.headers }
      return (await send.request(url, { ...options, headers }, caller)).json()
    },
    async text (url, options = {}) {
      return (await send.request(url, options, caller)).text()
    },
    stream: (url, options = {}) => send.stream(url, options, caller),
    unzip: (url, members, { timeoutMs = STREAM_TIMEOUT_MS, maxBytes = ZIP_MAX_BYTES, ...options } = {}) =>
      unzip((toFile) => send.download(url, { ...options, toFile, timeoutMs, maxBytes }, caller), members, send.tempDir),
    setLimits: send.setLimits,
    setAllowance: send.setAllowance,
    download: (url, options) => send.download(url, options, options.signal === undefined
      ? caller
      : { ...caller, signal: AbortSignal.any([signal, options.signal]) })
  }
}

/** @param lifetime aborts every request, of all callers */
function createSender (
  options: HttpClientOptions, line: Pick<Wire, 'dispatcher' | 'target'>, lifetime: AbortSignal
): Sender {
  const { log, userAgent, now = Date.now } = options
  const mask = createMask(options.secrets ?? [])
  const wire: Wire = { ...line, rules: options, mask, log, now, onEnd: options.onEnd ?? (() => {}) }
  const cache = createAnswerCache({ log, now, store: options.store })
  const sharedRequests = createSharedRequests<ClientResponse>(lifetime)
  const rateLimiter = createRateLimiter(options.rateLimit ?? {}, options.shareRate)
  const waits = {
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
    onPause: options.onPause ?? (() => {})
  }

  function send<Result> (
    request: PreparedRequest, read: Reader<Result>, { given, caller, ending }: Call
  ): Promise<Result> {
    const { host } = request.url
    const isRepeatable = given.retry ?? (request.method === 'GET' || request.method === 'HEAD')
    const waiter = { ...caller, signal: ending.signal }
    const attempt = { request, limits: toLimits(given), read }
    const run = () => rateLimiter.run(host, () => exchange(attempt, ending, wire), waiter)
    return runWithRetries(run, { ...waits, ...waiter, isRepeatable })
  }

  async function fetchAnswer (request: PreparedRequest, call: Call): Promise<ClientResponse> {
    const { cacheMs = 0, maxBytes = DEFAULT_MAX_BYTES, accept = [], truncate = false } = call.given
    const fetch = () => send(request, createAnswerReader(maxBytes, truncate), call)
    if (cacheMs === 0 || truncate) return { ...await fetch(), isReused: false }
    const key = digestRequest(request)
    const cached = await cache.get(key, cacheMs)
    if (cached !== null && cached.bytes.byteLength <= maxBytes && isAccepted(cached.status, accept)) {
      return { ...cached, isReused: true }
    }
    const answer = await fetch()
    if (isLasting(answer.status)) await cache.set(key, answer, cacheMs)
    return { ...answer, isReused: false }
  }

  return {
    tempDir: options.tempDir ?? tmpdir(),

    setLimits (limits) {
      rateLimiter.set({ ...options.rateLimit, ...limits })
      options.onLimits?.(limits)
    },

    setAllowance: (allowance) => { options.onAllowance?.(allowance) },

    stream (url, given, caller) {
      const request = prepareRequest(url, given, { userAgent, mask })
      const timeoutMs = given.timeoutMs ?? STREAM_TIMEOUT_MS
      const read = (pour: Reader<number>, ended: AbortSignal) => abortWith([lifetime, caller.signal, ended],
        (ending) => send(request, pour, { given: { ...given, timeoutMs }, caller, ending }))
      return createPipe(read, given.maxBytes ?? Infinity)
    },

    async request (url, given, caller) {
      const request = prepareRequest(url, given, { userAgent, mask })
      const start = (ending: AbortController) => fetchAnswer(request, { given, caller, ending })
      const answer = await sharedRequests.join(shareKey(request, given, caller), caller.signal, start)
      return toResponse(answer, () => nameRequest(request, mask), mask)
    },

    async download (url, given, caller) {
      const request = prepareRequest(url, given, { userAgent, mask })
      const timeoutMs = given.timeoutMs ?? DOWNLOAD_TIMEOUT_MS
      return abortWith([lifetime, caller.signal],
        (ending) => send(request, createFileReader(given), { given: { ...given, timeoutMs }, caller, ending }))
    }
  }
}

function toLimits (given: RequestOptions & Pick<DownloadOptions, 'rules'>): Limits {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, redirects = DEFAULT_REDIRECTS, accept = [], rules = {} } = given
  return { timeoutMs, redirects, accept, rules }
}

/**
 * Returns a key for sharing responses. Requests without effect are shared, and requests whose responses may be cached.
 */
function shareKey (request: PreparedRequest, given: RequestOptions, { throwsRateLimits }: Caller): string | null {
  const { accept, timeoutMs, cacheMs = 0, maxBytes, retry, redirects, truncate } = given
  if (request.method !== 'GET' && request.method !== 'HEAD' && cacheMs === 0) return null
  return JSON.stringify(
    [...listParts(request), accept, timeoutMs, cacheMs, maxBytes, retry, redirects, truncate, throwsRateLimits]
  )
}

/** True if a response describes the requested resource, not the state of the service. */
function isLasting (status: number): boolean {
  return (status >= 200 && status < 300) || status === 404 || status === 410
}

function createAnswerReader (maxBytes: number, truncate: boolean): Reader<ResponseContent> {
  return async ({ status, headers, body }) => {
    const bytes = await (truncate ? readTruncated : readBody)(body, maxBytes)
    return { result: { status, headers, bytes }, bytes: bytes.byteLength }
  }
}

function createFileReader ({ toFile, maxBytes = DOWNLOAD_MAX_BYTES, acceptType = () => true }: DownloadOptions):
Reader<Download> {
  return async ({ status, headers, body }) => {
    const contentType = (headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase()
    if (!acceptType(contentType)) throw new BadBodyError(`answered with the content type '${contentType}', which this request does not accept`)
    const bytes = await writeBody(body, toFile, maxBytes)
    return { result: { status, contentType, bytes, path: toFile }, bytes }
  }
}
