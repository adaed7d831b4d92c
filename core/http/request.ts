import { hash } from 'node:crypto'
import { unescape } from 'node:querystring'
import type { RequestOptions } from '@svc/plugin-sdk'
import { ACCEPT_ENCODING } from './body.ts'
import { isSecretName, type Mask } from './mask.ts'

/** A request ready to be sent; each hop of a redirect is a request of its own. */
export interface PreparedRequest {
  readonly method: NonNullable<RequestOptions['method']>
  readonly url: URL
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

export interface RequestDefaults {
  readonly userAgent: string
  readonly mask: Mask
}

/** @throws TypeError if `url` is no URL or more than one body is given: both are mistakes of the caller. */
export function prepareRequest (url: string, options: RequestOptions, defaults: RequestDefaults): PreparedRequest {
  const target = URL.parse(url)
  if (target === null) throw new TypeError(`The address '${defaults.mask.text(url)}' is not a complete URL`)
  const login = readUrlLogin(target)
  target.search = appendQuery(target.search, options.query ?? {})
  if (target.hash !== '') target.hash = ''
  const { body, type } = prepareBody(options)
  const headers = {
    accept: '*/*',
    'user-agent': defaults.userAgent,
    'accept-encoding': ACCEPT_ENCODING,
    ...(type === null ? {} : { 'content-type': type }),
    ...(login === null ? {} : { authorization: login }),
    ...lowerCaseNames(options.headers ?? {})
  }
  return { method: options.method ?? 'GET', url: target, headers, body }
}

/** Turns `https://user:password@host/` into a Basic authorization, as every browser does. */
function readUrlLogin (url: URL): string | null {
  if (url.username === '' && url.password === '') return null
  const login = `${unescape(url.username)}:${unescape(url.password)}`
  url.username = ''
  url.password = ''
  return `Basic ${Buffer.from(login).toString('base64')}`
}

/**
 * Keeps the query of the URL byte for byte, because signed URLs depend on it. Spaces are sent as %20, never as plus.
 */
function appendQuery (search: string, query: NonNullable<RequestOptions['query']>): string {
  const added = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    const values: readonly (string | number | boolean)[] = typeof value === 'object' ? value : [value]
    for (const single of values) added.append(name, String(single))
  }
  const text = added.toString().replaceAll('+', '%20')
  if (text === '') return search
  return search.length > 1 ? `${search}&${text}` : text
}

function prepareBody ({ json, form, body }: RequestOptions): { body: string | Uint8Array | null, type: string | null } {
  if ([json, form, body].filter((given) => given !== undefined).length > 1) {
    throw new TypeError('A request may have only one of json, form and body; remove the others')
  }
  if (json !== undefined) return { body: JSON.stringify(json), type: JSON_TYPE }
  if (form !== undefined) return { body: new URLSearchParams(form).toString(), type: FORM_TYPE }
  return { body: body ?? null, type: null }
}

function lowerCaseNames (headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * Returns the request of a redirect, after RFC 9110 section 15.4, or null if the response is no redirect or must not be
 * followed. A body is never sent to another origin than its own.
 */
export function prepareRedirect (
  request: PreparedRequest, status: number, location: string | undefined, mask: Mask
): PreparedRequest | null {
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url.href)) return null
  const url = new URL(location, request.url)
  url.username = url.password = url.hash = ''
  const keepsMethod = status === 307 || status === 308 || request.method === 'GET' || request.method === 'HEAD'
  const isSameOrigin = url.origin === request.url.origin
  if (keepsMethod && request.body !== null && !isSameOrigin) return null
  const headers = Object.entries(request.headers)
    .filter(([name]) => keepsMethod || !name.startsWith('content-'))
    .filter(([name, value]) => isSameOrigin || !isCredential(name, value, mask))
  return {
    url,
    headers: Object.fromEntries(headers),
    method: keepsMethod ? request.method : 'GET',
    body: keepsMethod ? request.body : null
  }
}

function isCredential (name: string, value: string, mask: Mask): boolean {
  return isSecretName(name) || mask.text(value) !== value
}

/** Returns values that are equal as JSON for equal requests. */
export function listParts ({ method, url, headers, body }: PreparedRequest): unknown[] {
  const sorted = Object.entries(headers).sort(([a], [b]) => a < b ? -1 : 1)
  const bytes = typeof body === 'object' && body !== null ? Buffer.from(body).toString('base64') : body
  return [method, url.href, sorted, typeof body, bytes]
}

/**
 * Returns a digest that is the same for equal requests. It is hashed, because keys are stored and must not contain
 * secrets.
 */
export const digestRequest = (request: PreparedRequest): string =>
  hash('sha256', JSON.stringify(listParts(request)), 'base64url')
