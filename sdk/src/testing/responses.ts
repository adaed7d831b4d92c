import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

/** A test's response to a request. Requests that match no planned response fail the test. */
export interface PlannedResponse {
  /** Default: any method. */
  method?: string
  /**
   * The whole URL, in which `*` stands for any characters. Its query, like `query`, lists the required parameters;
   * others are allowed. Alternatively any object with `test(url)`, such as a RegExp or a URLPattern.
   */
  url: string | { test (url: string): boolean }
  /** Parameters that the URL must have. */
  query?: Readonly<Record<string, string | number | boolean>>
  /**
   * The expected body: contained text, an equal object (the JSON or form that is sent), or a RegExp or function to
   * match.
   */
  body?: string | RegExp | ((body: string) => boolean) | object
  /** Default 200. */
  status?: number
  headers?: Readonly<Record<string, string>>
  /** The body of the response: at most one of the next four. */
  json?: unknown
  text?: string
  bytes?: Uint8Array
  /** In a fixture folder: the file beside this one that holds the body. */
  file?: string
  /** Breaks the connection, or lets the request time out, instead of a response. */
  error?: 'connection' | 'timeout'
  /** Maximum number of uses; default unlimited. After that the next matching response applies. */
  times?: number
}

/** Planned responses, or a folder (path or file URL) whose `*.json` files each hold one response or a list. */
export type Responses = readonly PlannedResponse[] | string | URL

/** A request that a plugin made. */
export interface RecordedRequest {
  readonly method: string
  /** The URL with its query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Text as sent; JSON and forms are rendered, bytes are read as UTF-8. */
  readonly body: string
}

/**
 * Reads planned responses from a folder, in name order; returns lists unchanged.
 *
 * @throws Error for a file that is not JSON or a response without `url`.
 */
export function loadResponses (responses: Responses): PlannedResponse[] {
  if (typeof responses !== 'string' && !(responses instanceof URL)) return [...responses]
  const folder = responses instanceof URL || responses.startsWith('file:') ? fileURLToPath(responses) : responses
  const names = readdirSync(folder).filter((name) => name.endsWith('.json')).sort()
  return names.flatMap((name) => readFixture(folder, name))
}

function readFixture (folder: string, name: string): PlannedResponse[] {
  const path = join(folder, name)
  const parsed = parseJson(path)
  return (Array.isArray(parsed) ? parsed : [parsed]).map((entry: unknown) => {
    if (!isPlanned(entry)) throw new Error(`${path}: a planned response needs a text "url"; add one`)
    return entry.file === undefined ? entry : { ...entry, bytes: readFileSync(join(folder, entry.file)) }
  })
}

function parseJson (path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (err) {
    throw new Error(`${path} is not JSON; fixtures that are not responses need another extension`, { cause: err })
  }
}

function isPlanned (entry: unknown): entry is PlannedResponse {
  return typeof entry === 'object' && entry !== null && 'url' in entry && typeof entry.url === 'string'
}

/** True if a planned response matches a request. */
export function matchesRequest (planned: PlannedResponse, request: RecordedRequest): boolean {
  if (planned.method !== undefined && planned.method.toUpperCase() !== request.method) return false
  return matchesAddress(planned, request.url) && matchesBody(planned.body, request.body)
}

function matchesAddress ({ url, query = {} }: PlannedResponse, requested: string): boolean {
  const { searchParams, href } = new URL(requested)
  const expected = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
  if (typeof url !== 'string') {
    if (!url.test(requested)) return false
  } else {
    const [address = '', search = ''] = url.split('?')
    expected.push(...new URLSearchParams(search))
    if (!wildcard(address).test(withoutQuery(href))) return false
  }
  return expected.every(([name, value]) => searchParams.getAll(name).includes(value))
}

function withoutQuery (url: string): string {
  return url.replace(/[?#].*$/s, '')
}

function wildcard (address: string): RegExp {
  const normal = address.includes('*') || !URL.canParse(address) ? address : withoutQuery(new URL(address).href)
  return new RegExp(`^${normal.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('.*')}$`, 's')
}

function matchesBody (expected: PlannedResponse['body'], body: string): boolean {
  if (expected === undefined) return true
  if (typeof expected === 'string') return body.includes(expected)
  if (expected instanceof RegExp) return expected.test(body)
  if (typeof expected === 'function') return Boolean((expected as (body: string) => boolean)(body))
  return isDeepStrictEqual(parseBody(body), expected)
}

function parseBody (body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return Object.fromEntries(new URLSearchParams(body))
  }
}
