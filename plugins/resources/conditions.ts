import type { IncomingHttpHeaders } from 'node:http'

/** What the answer says of the file as it is now. */
export interface Validators {
  etag: string
  /** HTTP date; none where only the tag tells one state from another. */
  lastModified?: string
}

const WEAK = /^W\//
const modifiedAt = ({ lastModified = '' }: Validators) => Date.parse(lastModified)
const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim())

/** Whether `If-Match` or `If-Unmodified-Since` name another state of the file. See RFC 9110, section 13. */
export function isPreconditionFailed (headers: IncomingHttpHeaders, current: Validators): boolean {
  const match = headers['if-match']
  if (match !== undefined) return match.trim() !== '*' && !tagsOf(match).includes(current.etag)
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  return !Number.isNaN(since) && modifiedAt(current) > since
}

/** Whether the client's copy is still good; its tag says so alone when it sends one. */
export function isFresh (headers: IncomingHttpHeaders, current: Validators): boolean {
  const match = headers['if-none-match']
  if (match !== undefined) {
    return match.trim() === '*' || tagsOf(match).some((tag) => tag.replace(WEAK, '') === current.etag)
  }
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return !Number.isNaN(since) && modifiedAt(current) <= since
}

/** Whether a range continues what the client already has: without `If-Range` it says so by asking. */
export function isSameForRange (headers: IncomingHttpHeaders, current: Validators): boolean {
  const condition = headers['if-range']
  if (typeof condition !== 'string') return condition === undefined
  return condition.trim() === current.etag || condition.trim() === current.lastModified
}
