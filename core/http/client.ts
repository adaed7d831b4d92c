import { tmpdir } from 'node:os'
import type { Allowance, Cache, HttpClient, HttpResponse, Logger, RequestOptions } from '@svc/plugin-sdk'
import type { Agent } from 'undici'
import type { AddressRules } from './addresses.ts'
import { BadBodyError, readBody, writeBody } from './body.ts'
import { createAnswerCache, type Answer } from './cache.ts'
import { endWith } from './abort-with.ts'
import { exchange, isWanted, nameRequest, type Limits, type Reader, type Wire } from './exchange.ts'
import { createFlights } from './shared-requests.ts'
import { createRoute } from './gateway.ts'
import { createMask } from './mask.ts'
import { createRateLimiter, type RateLimit, type Waiter } from './rate-limit.ts'
import { digestRequest, listParts, prepareRequest, type PreparedRequest } from './request.ts'
import { type GivenAnswer, toResponse } from './response.ts'
import { sleep, tryAgain, type RetryOptions } from './retry.ts'
import { createPipe } from './stream.ts'
import { unzip } from './unzip.ts'

export { FileWriteError } from './body.ts'

export interface HttpClientOptions extends AddressRules {
  /** Key of the plugin the client is made for, as it appears in messages. */
  name: string
  /** Such as `Svc/1.0.0`. */
  userAgent: string
  log: Logger
  /** Values that no log line and no message may show. */
  secrets?: readonly string[]
  /** Where requests to the public internet are sent instead, as createRoute says; by default nowhere else. */
  gateway?: string | undefined
  /** How fast the service may be asked. Answers that are shared or kept take no turn. */
  pace?: RateLimit
  /** Where answers asked for with `cacheMs` outlive a restart. */
  store?: Cache
  /** Ends every request of the client, whose callers get its reason. */
  signal?: AbortSignal
  /** Told what the service's answers say of its pace and allowances. */
  onLimits?: (limits: RateLimit) => void
  onAllowance?: (allowance: Allowance) => void
  /** Where a file is kept while it is unpacked; default the system's folder for that. */
  tempDir?: string
  /** Told of each try how many milliseconds it took, and what it failed with. */
  onEnd?: Wire['onEnd']
  /** Told how many milliseconds the service asked to be left alone, on 429 and on 5xx with `Retry-After`. */
  onPause?: (ms: number) => void
  /** Replaces the connections, and with them the check of what a name resolves to. */
  dispatcher?: Wire['dispatcher']
  /** Bytes of answers kept in memory; default 32 MiB. */
  cacheBytes?: number
  /** Replaces the waiting between two tries. */
  sleep?: RetryOptions['sleep']
  random?: () => number
  /** Milliseconds since 1970. */
  now?: () => number
}

export interface DownloadOptions extends
  Pick<RequestOptions, 'query' | 'headers' | 'redirects' | 'retry' | 'timeoutMs' | 'maxBytes'> {
  /** Path of the file, replaced if there is one; its folder exists. Until it is complete it ends in `.part`. */
  toFile: string
  /** Whether a media type, in lower case and without parameters, is wanted; by default every one is. */
  acceptType?: (contentType: string) => boolean
  signal?: AbortSignal
}

export interface Download {
  status: number
  /** In lower case and without parameters; empty when the service named none. */
  contentType: string
  bytes: number
  path: string
}

/**
 * @throws besides what HttpClient says: AddressRefusedError for an address that may not be reached · the reason of the
 * signal that ended the work · TypeError for a mistake of the caller, such as an incomplete URL. An answer that is too
 * large or wrongly packed is a ServiceDownError. Callers that ask the same at once get the same `bytes`.
 */
export interface DownloadingClient extends HttpClient {
  /**
   * Streams an answer to a file; at most 64 MiB and two minutes unless said otherwise. A failure leaves no file.
   *
   * @throws as `request` does; ServiceDownError also for an unwanted media type or an empty file · FileWriteError when
   * the file cannot be written
   */
  download (url: string, options: DownloadOptions): Promise<Download>
}

export interface OutgoingClient extends DownloadingClient {
  /**
   * The same client, with the same connections, pace and cache, for work that ends with `signal`.
   *
   * @param options `tellsLimits`: whether a rate limit is told at once instead of waited out; `onWait`: as a Waiter's
   */
  withSignal (signal: AbortSignal, options?: CallerOptions): DownloadingClient
  /** Ends what is under way and closes all connections. */
  close (): Promise<void>
}

type CallerOptions = Partial<Pick<RetryOptions, 'tellsLimits'>> & Pick<Waiter, 'onWait'>

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024
const DEFAULT_REDIRECTS = 3
const DOWNLOAD_TIMEOUT_MS = 120_000
const DOWNLOAD_MAX_BYTES = 64 * 1024 * 1024
/** For files of hundreds of megabytes over a slow line. */
const STREAM_TIMEOUT_MS = 60 * 60_000
const ZIP_MAX_BYTES = 4 * 1024 ** 3

/** Makes the only way out for one plugin: every address is checked, every answer limited, every secret masked. */
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
    ...bind(send, { signal, tellsLimits: false }),
    withSignal: (narrower, { tellsLimits = false, onWait } = {}) =>
      bind(send, { signal: narrower, tellsLimits, onWait }),
    async close () {
      closing.abort(new Error(`The HTTP client of '${options.name}' is closed`))
      await (await agent)?.destroy()
    }
  }
}

/** Makes connections. What makes them is loaded for the first that is wanted: most web workers never want one. */
export async function openAgent (rules: AddressRules): Promise<Agent> {
  return (await import('./agent.ts')).createAgent(rules)
}

/** On whose behalf a request is sent. */
type Caller = Pick<RetryOptions, 'signal' | 'tellsLimits'> & Waiter

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

/** @param life ends every request, whoever it is for */
function createSender (
  options: HttpClientOptions, line: Pick<Wire, 'dispatcher' | 'target'>, life: AbortSignal
): Sender {
  const { log, userAgent, now = Date.now } = options
  const mask = createMask(options.secrets ?? [])
  const wire: Wire = { ...line, rules: options, mask, log, now, onEnd: options.onEnd ?? (() => {}) }
  const cache = createAnswerCache({ log, now, store: options.store, maxBytes: options.cacheBytes })
  const flights = createFlights<GivenAnswer>(life)
  const turns = createRateLimiter(options.pace ?? {})
  const waits = {
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
    onPause: options.onPause ?? (() => {})
  }

  function send<Result> (
    request: PreparedRequest, read: Reader<Result>, given: RequestOptions, caller: Caller, ending: AbortController
  ): Promise<Result> {
    const { host } = request.url
    const isRepeatable = given.retry ?? (request.method === 'GET' || request.method === 'HEAD')
    const waiter = { ...caller, signal: ending.signal }
    const attempt = () => turns.run(host, () => exchange(request, read, toLimits(given), ending, wire), waiter)
    return tryAgain(attempt, { ...waits, ...waiter, isRepeatable })
  }

  async function fetchAnswer (
    request: PreparedRequest, given: RequestOptions, caller: Caller, ending: AbortController
  ): Promise<GivenAnswer> {
    const { cacheMs = 0, maxBytes = DEFAULT_MAX_BYTES, accept = [] } = given
    const fetch = () => send(request, createAnswerReader(maxBytes), given, caller, ending)
    if (cacheMs === 0) return { ...await fetch(), isReused: false }
    const key = digestRequest(request)
    const kept = await cache.get(key, cacheMs)
    if (kept !== null && kept.bytes.byteLength <= maxBytes && isWanted(kept.status, accept)) {
      return { ...kept, isReused: true }
    }
    const answer = await fetch()
    if (isLasting(answer.status)) await cache.set(key, answer, cacheMs)
    return { ...answer, isReused: false }
  }

  return {
    tempDir: options.tempDir ?? tmpdir(),

    setLimits (limits) {
      turns.set({ ...options.pace, ...limits })
      options.onLimits?.(limits)
    },

    setAllowance: (allowance) => { options.onAllowance?.(allowance) },

    stream (url, given, caller) {
      const request = prepareRequest(url, given, { userAgent, mask })
      const timeoutMs = given.timeoutMs ?? STREAM_TIMEOUT_MS
      const read = (pour: Reader<number>, ended: AbortSignal) => endWith([life, caller.signal, ended],
        (ending) => send(request, pour, { ...given, timeoutMs }, caller, ending))
      return createPipe(read, given.maxBytes ?? Infinity)
    },

    async request (url, given, caller) {
      const request = prepareRequest(url, given, { userAgent, mask })
      const start = (ending: AbortController) => fetchAnswer(request, given, caller, ending)
      const answer = await flights.join(shareKey(request, given, caller), caller.signal, start)
      return toResponse(answer, () => nameRequest(request, mask), mask)
    },

    async download (url, given, caller) {
      const request = prepareRequest(url, given, { userAgent, mask })
      const timeoutMs = given.timeoutMs ?? DOWNLOAD_TIMEOUT_MS
      return endWith([life, caller.signal],
        (ending) => send(request, createFileReader(given), { ...given, timeoutMs }, caller, ending))
    }
  }
}

function toLimits (given: RequestOptions): Limits {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, redirects = DEFAULT_REDIRECTS, accept = [] } = given
  return { timeoutMs, redirects, accept }
}

/** Requests without effect are shared, and those whose answers may be reused anyway. */
function shareKey (request: PreparedRequest, given: RequestOptions, { tellsLimits }: Caller): string | null {
  const { accept, timeoutMs, cacheMs = 0, maxBytes, retry, redirects } = given
  if (request.method !== 'GET' && request.method !== 'HEAD' && cacheMs === 0) return null
  return JSON.stringify([...listParts(request), accept, timeoutMs, cacheMs, maxBytes, retry, redirects, tellsLimits])
}

/** Whether an answer says something about the thing asked for, not about the state of the service. */
function isLasting (status: number): boolean {
  return (status >= 200 && status < 300) || status === 404 || status === 410
}

function createAnswerReader (maxBytes: number): Reader<Answer> {
  return async ({ status, headers, body }) => {
    const bytes = await readBody(body, maxBytes)
    return { result: { status, headers, bytes }, bytes: bytes.byteLength }
  }
}

function createFileReader ({ toFile, maxBytes = DOWNLOAD_MAX_BYTES, acceptType = () => true }: DownloadOptions):
Reader<Download> {
  return async ({ status, headers, body }) => {
    const contentType = (headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase()
    if (!acceptType(contentType)) throw new BadBodyError(`answered with '${contentType}', which is not wanted here`)
    const bytes = await writeBody(body, toFile, maxBytes)
    return { result: { status, contentType, bytes, path: toFile }, bytes }
  }
}
