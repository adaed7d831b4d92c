import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AwsV4Signer } from 'aws4fetch'
import type { Dispatcher, request as sendRequest } from 'undici'
import { originOf } from '../../http/addresses.ts'
import { type Outcome, runWithRetries } from '../../http/retry.ts'
import { NEVER } from '../../concurrency/limit-time.ts'
import type { S3Address } from './address.ts'
import { type XmlText, findText, readXml } from './xml.ts'

/** A refusal of the server. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  readonly status: number
  /** The code of S3, such as `NoSuchKey`. */
  readonly code: string

  constructor (status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The server did not answer, or its answer cannot be read. */
export class S3ConnectionError extends Error {
  override readonly name = 'S3ConnectionError'

  constructor (cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** The whole key; empty for the bucket. */
  key: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Buffer
  /** True for work of the server that grows with the object, such as a copy. */
  isSlow?: boolean
}

/** The limits of one attempt, and the pause between attempts. */
export interface S3Timing {
  /** Time without a byte of the answer. */
  silenceMs: number
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

export const DEFAULT_TIMING: S3Timing = {
  silenceMs: 6_000,
  sleep: (ms, signal) => delay(ms, undefined, { signal })
}

type Response = Dispatcher.ResponseData

const RETRIED_STATUSES = new Set([408, 429, 500, 502, 503, 504])
const ERROR_MAX_BYTES = 64 * 1024
/** After this time no attempt begins, because people and database connections wait. */
const ATTEMPTS_MS = 10_000
const SLOW_FACTOR = 10
const EMPTY = Buffer.alloc(0)

/** Encodes a text as the signature of S3 requires: all but the unreserved characters of RFC 3986. */
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Encodes a key and keeps its slashes. */
export const encodeKey = (key: string): string => key.split('/').map(encode).join('/')

function urlOf ({ bucketUrl }: S3Address, { key, query = {} }: S3Request): string {
  const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  return `${bucketUrl}/${encodeKey(key)}${search === '' ? '' : `?${search}`}`
}

/** Reads a refusal. The answer to HEAD has no body. */
async function readRefusal ({ statusCode: status, body }: Response): Promise<S3Error> {
  let text = ''
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (text.length < ERROR_MAX_BYTES) text += chunk.toString('utf8')
  }
  return toRefusal(status, text)
}

function toRefusal (status: number, xml: string): S3Error {
  let texts: XmlText[] = []
  try {
    texts = readXml(xml)
  } catch {
    // A proxy may answer with HTML, of which only the status counts.
  }
  const code = findText(texts, 'Code') ?? `HTTP ${status}`
  return new S3Error(status, code, `${code}: ${findText(texts, 'Message') ?? `the server answered ${status}`}`)
}

const hasErrorBody = (xml: string) => /^(?:\uFEFF)?\s*(?:<\?[^>]*>)?\s*<Error[\s>]/.test(xml)

const mayRetry = (err: unknown) => !(err instanceof S3Error) || RETRIED_STATUSES.has(err.status)

/** The libraries of requests, which load with the first one. */
interface Libraries { Signer: typeof AwsV4Signer, request: typeof sendRequest, dispatcher: Dispatcher }

/** Loads the libraries. The host of the store may have a private address, and no other. */
async function loadLibraries ({ bucketUrl }: S3Address): Promise<Libraries> {
  const [{ AwsV4Signer: Signer }, { request }, { createAgent }] = await Promise.all([
    import('aws4fetch'), import('undici'), import('../../http/agent.ts')
  ])
  return { Signer, request, dispatcher: createAgent({ trustedOrigins: [originOf(bucketUrl)] }) }
}

const sign = (Signer: typeof AwsV4Signer, address: S3Address, { body = EMPTY, ...given }: S3Request) => new Signer({
  method: given.method,
  url: urlOf(address, given),
  headers: { ...given.headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
  accessKeyId: address.access_key_id,
  secretAccessKey: address.secret_access_key,
  ...(address.session_token === undefined ? {} : { sessionToken: address.session_token }),
  service: 's3',
  region: address.region
}).sign()

function timeoutsOf ({ isSlow = false }: S3Request, silenceMs: number) {
  const limitMs = isSlow ? silenceMs * SLOW_FACTOR : silenceMs
  return { headersTimeout: limitMs, bodyTimeout: limitMs }
}

/** Sends signed requests to one bucket, and repeats them after failures that may pass. */
export function createS3Client (address: S3Address, { silenceMs, sleep }: S3Timing) {
  let loaded: Promise<Libraries> | undefined

  async function sendOnce (given: S3Request): Promise<Response> {
    const { Signer, request, dispatcher } = await (loaded ??= loadLibraries(address))
    const { method, body = EMPTY } = given
    const timeouts = timeoutsOf(given, silenceMs)
    const { url, headers } = await sign(Signer, address, given)
    const response = await request(url, {
      method,
      headers: Object.fromEntries(headers),
      body: method === 'PUT' || method === 'POST' ? body : null,
      dispatcher,
      ...timeouts
    })
    if (response.statusCode >= 300) throw await readRefusal(response)
    return response
  }

  /**
   * Sends a request until it is answered and `read` got all that it needs.
   *
   * @throws S3Error for a refusal, S3ConnectionError without an answer; both after the last attempt
   */
  async function send<T> (request: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    const begun = performance.now()
    const attempt = async (): Promise<Outcome<T>> => {
      try {
        return { result: await read(await sendOnce(request)) }
      } catch (err) {
        const failure = err instanceof S3Error ? err : new S3ConnectionError(err)
        const canHelp = mayRetry(err) && performance.now() - begun < ATTEMPTS_MS
        return { failure, mayRetry: canHelp, retryAfterMs: null, isPauseRequested: false }
      }
    }
    return await runWithRetries(attempt, {
      // Every request has the same effect when it is repeated.
      isRepeatable: true, throwsRateLimits: false, signal: NEVER, sleep, random: Math.random, onPause () {}
    })
  }

  return {
    /** Returns the headers of the answer, whose body is skipped. */
    sendForHeaders: (request: S3Request) => send(request, async ({ headers, body }) => {
      await body.dump()
      return headers
    }),

    /** Returns the texts of the answer. Some answers begin with status 200 and then hold an error. */
    sendForXml: (request: S3Request) => send(request, async ({ body }) => {
      const xml = await body.text()
      if (hasErrorBody(xml)) throw toRefusal(500, xml)
      return readXml(xml)
    }),

    /** Returns the answer with its unread body. */
    open: (request: S3Request) => send(request, async (response) => response)
  }
}
export type S3Client = ReturnType<typeof createS3Client>
