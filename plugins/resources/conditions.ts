import type { IncomingHttpHeaders } from 'node:http'

/** The validators of the current state of a file. */
export interface Validators {
  etag: string
  /** HTTP date; absent if only the tag tells one state from another. */
  lastModified?: string
}

const WEAK = /^W\//
const modifiedAt = ({ lastModified = '' }: Validators) => Date.parse(lastModified)
const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim())

/** True if `If-Match` or `If-Unmodified-Since` name another state of the file. See RFC 9110, section 13. */
export function isPreconditionFailed (headers: IncomingHttpHeaders, current: Validators): boolean {
  const match = headers['if-match']
  if (match !== undefined) return match.trim() !== '*' && !tagsOf(match).includes(current.etag)
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  return !Number.isNaN(since) && modifiedAt(current) > since
}

/**
 * True if a write must not happen, because its client expects another state of the file. See RFC 9110, section 13.
 *
 * @param current null if there is no file
 */
export function isWriteRefused (headers: IncomingHttpHeaders, current: Validators | null): boolean {
  if (current === null) return headers['if-match'] !== undefined
  return isPreconditionFailed(headers, current) || (headers['if-none-match'] !== undefined && isFresh(headers, current))
}

/** True if the client's copy is still current. If the client sends a tag, only the tag counts. */
export function isFresh (headers: IncomingHttpHeaders, current: Validators): boolean {
  const match = headers['if-none-match']
  if (match !== undefined) {
    return match.trim() === '*' || tagsOf(match).some((tag) => tag.replace(WEAK, '') === current.etag)
  }
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return !Number.isNaN(since) && modifiedAt(current) <= since
}

/** True if a range continues the client's copy. Without `If-Range` the request itself says so. */
export function isSameForRange (headers: IncomingHttpHeaders, current: Validators): boolean {
  const condition = headers['if-range']
  if (typeof condition !== 'string') return condition === undefined
  return condition.trim() === current.etag || condition.trim() === current.lastModified
}
