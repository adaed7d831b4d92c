import type { HttpClient, HttpResponse, RequestOptions, ZipMember } from '../context.ts'
import { HttpStatusError, RateLimitedError, ServiceDownError } from '../errors.ts'
import type { Allowance, Limits } from '../limits.ts'
import { type PlannedResponse, type RecordedRequest, matchesRequest } from './responses.ts'
import { readZip } from './zip.ts'

// The limit stops a plugin that follows pages without end, with an error that says so.
const MAX_REQUESTS = 1000
// Small, because parsers must handle text that is cut in the middle of a word.
const CHUNK_BYTES = 64

export interface TestHttp extends HttpClient {
  readonly requests: readonly RecordedRequest[]
  readonly unplanned: readonly string[]
  /** The planned response to each request. */
  readonly answers: readonly PlannedResponse[]
  /** The limits that the plugin reported, in order. */
  readonly limits: readonly Pick<Limits, 'concurrency' | 'rates'>[]
  readonly allowances: readonly Allowance[]
}

export interface TestHttpOptions {
  responses: readonly PlannedResponse[]
  signal: AbortSignal
  intercept?: ((request: RecordedRequest, index: number) => PlannedResponse | undefined) | undefined
}

/**
 * Creates a client with the host's rules for statuses, sizes, redirects and caching, without its retries and network.
 */
export function createHttp ({ responses, signal, intercept }: TestHttpOptions): TestHttp {
  const requests: RecordedRequest[] = []
  const unplanned: string[] = []
  const answers: PlannedResponse[] = []
  const limits: Pick<Limits, 'concurrency' | 'rates'>[] = []
  const allowances: Allowance[] = []
  const served = new Map<PlannedResponse, number>()
  const cached = new Map<string, HttpResponse>()

  function findPlanned (request: RecordedRequest): PlannedResponse {
    const planned = intercept?.(request, requests.length - 1) ?? responses.find((candidate) =>
      (served.get(candidate) ?? 0) < (candidate.times ?? Infinity) && matchesRequest(candidate, request))
    if (planned === undefined) {
      const message = describeUnplanned(request, responses)
      unplanned.push(message)
      throw new Error(message)
    }
    served.set(planned, (served.get(planned) ?? 0) + 1)
    return planned
  }

  async function request (url: string, options: RequestOptions = {}): Promise<HttpResponse> {
    signal.throwIfAborted()
    const recorded = record(url, options)
    const key = JSON.stringify([recorded.method, recorded.url, recorded.body])
    const cachedResponse = cached.get(key)
    if (cachedResponse !== undefined) return { ...cachedResponse, isReused: true }
    if (requests.push(recorded) > MAX_REQUESTS) throw new Error(`more than ${MAX_REQUESTS} requests; does it ever stop?`)
    const planned = findPlanned(recorded)
    answers.push(planned)
    // The response arrives later, like a real one, so that parallel calls interleave.
    await new Promise((resolve) => { setImmediate(resolve) })
    signal.throwIfAborted()
    const response = answer(planned, recorded, options)
    if ((options.cacheMs ?? 0) > 0 && isLasting(response)) cached.set(key, response)
    return response
  }
  async function * stream (url: string, options: RequestOptions = {}): AsyncIterable<Uint8Array> {
    const { bytes } = await request(url, { ...options, maxBytes: options.maxBytes ?? Infinity })
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES)
  }
  async function * unzip (url: string, members: readonly string[], options?: RequestOptions): AsyncIterable<ZipMember> {
    const { bytes } = await request(url, { ...options, maxBytes: options?.maxBytes ?? Infinity })
    yield * readZip(bytes, members)
  }
  return {
    requests,
    unplanned,
    answers,
    limits,
    allowances,
    request,
    json: async (url, options) => (await request(url, options)).json(),
    text: async (url, options) => (await request(url, options)).text(),
    stream,
    unzip,
    setLimits: (given) => { limits.push(given) },
    setAllowance: (given) => { allowances.push(given) }
  }
}

function record (url: string, options: RequestOptions): RecordedRequest {
  const { method = 'GET', headers = {}, query = {} } = options
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) address.searchParams.append(name, String(one))
  }
  return { method, url: address.href, headers, body: renderBody(options) }
}

function renderBody ({ json, form, body }: RequestOptions): string {
  if (json !== undefined) return JSON.stringify(json)
  if (form !== undefined) return new URLSearchParams(form).toString()
  return typeof body === 'string' ? body : Buffer.from(body ?? '').toString()
}

function answer (planned: PlannedResponse, request: RecordedRequest, options: RequestOptions): HttpResponse {
  const { status = 200, headers = {}, error } = planned
  // The host masks secrets in its messages; this client omits the parts of a URL that may hold one.
  const what = `${request.method} ${new URL(request.url).origin}`
  if (error === 'timeout') throw new ServiceDownError(`${what} did not answer within ${options.timeoutMs ?? 30000} ms`)
  if (error === 'connection') throw new ServiceDownError(`${what}: the connection was closed`)
  const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const response = createResponse(status, lowered, renderAnswer(planned), what)
  checkStatus(response, what, options)
  const { maxBytes = 16 * 1024 * 1024, truncate = false } = options
  if (response.bytes.length <= maxBytes) return response
  if (truncate) return createResponse(status, lowered, response.bytes.subarray(0, maxBytes), what)
  throw new ServiceDownError(`${what}: more than ${maxBytes} bytes`)
}

function renderAnswer ({ json, text, bytes }: PlannedResponse): Uint8Array {
  if (bytes !== undefined) return bytes
  return Buffer.from(json === undefined ? text ?? '' : JSON.stringify(json))
}

function createResponse (
  status: number, headers: Record<string, string>, bytes: Uint8Array, what: string
): HttpResponse {
  return {
    status,
    headers,
    bytes,
    isReused: false,
    text: () => Buffer.from(bytes).toString(),
    json () {
      try {
        const value: unknown = JSON.parse(Buffer.from(bytes).toString())
        return value
      } catch (err) {
        throw new ServiceDownError(`${what} answered something that is not JSON`, { cause: err })
      }
    }
  }
}

/** True if a response describes the requested resource and not the state of the service. */
function isLasting ({ status }: HttpResponse): boolean {
  return (status >= 200 && status < 300) || status === 404 || status === 410
}

function checkStatus (response: HttpResponse, what: string, { accept = [] }: RequestOptions) {
  const { status, headers } = response
  if ((status >= 200 && status < 300) || accept.includes(status)) return
  const message = `${what} answered ${status}`
  if (status === 429) {
    const seconds = Number(headers['retry-after'] ?? NaN)
    throw new RateLimitedError(message, Number.isFinite(seconds) ? seconds * 1000 : undefined)
  }
  if (status >= 500) throw new ServiceDownError(message)
  throw new HttpStatusError(status, message, response.text().slice(0, 2000))
}

function describeUnplanned (request: RecordedRequest, responses: readonly PlannedResponse[]): string {
  const plans = responses.map(({ method = 'any method', url }) => `  ${method} ${describeUrl(url)}`)
  const body = request.body === '' ? '' : `\nwith the body ${request.body.slice(0, 500)}`
  return `No response is planned for ${request.method} ${request.url}${body}\n` +
    `Planned are:\n${plans.join('\n') || '  none'}\nAdd one, or correct the request.`
}

function describeUrl (url: PlannedResponse['url']): string {
  return typeof url === 'string' || url instanceof RegExp ? String(url) : 'a matcher'
}
