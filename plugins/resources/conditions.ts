import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'

/** What the answer says of the file as it is now. */
export interface Validators {
  etag: string
  /** HTTP date. */
  lastModified: string
}

/** Whether `If-Match` or `If-Unmodified-Since` name another state of the file. See RFC 9110, section 13.1. */
export function isPreconditionFailed (headers: IncomingHttpHeaders, current: Validators): boolean {
  const match = headers['if-match']
  if (match !== undefined) return match.trim() !== '*' && !match.split(',').some((tag) => tag.trim() === current.etag)
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  return !Number.isNaN(since) && Date.parse(current.lastModified) > since
}

/** Whether the client's copy is still good. */
export function isFresh (headers: IncomingHttpHeaders, current: Validators): boolean {
  return fresh(headers, { etag: current.etag, 'last-modified': current.lastModified })
}

/** Whether a range continues what the client already has: without `If-Range` it says so by asking. */
export function isSameForRange (headers: IncomingHttpHeaders, current: Validators): boolean {
  const condition = headers['if-range']
  if (condition === undefined || Array.isArray(condition)) return condition === undefined
  return condition.trim() === current.etag || condition.trim() === current.lastModified
}
