import { DeliveryRefusedError, HttpStatusError, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { isFields, parseJson, readText, type Fields as Answer } from '@svc/plugin-sdk/readers'
import type { Fields, Form } from './form.ts'
import type { Reply } from './service.ts'
import { cutText, toLine } from './text.ts'

const MAX_REPLY_LENGTH = 200
const MASK = '***'
/** Minimum length of a masked text, because a shorter one occurs in too many harmless words. */
const MIN_SECRET_LENGTH = 4

/** Statuses that seldom change without a change of the settings. */
const LASTING_STATUSES = new Set([400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 421, 422, 431])
/** Words in a 2xx response that indicate a temporary failure. */
const TEMPORARY = /internal|fatal_error|unavailable|timed?[ _-]?out|overload|rate/i

/** Masks all secrets in a text. */
export type Scrub = (text: string) => string

/** Creates a function that masks the secrets among some fields, plain or encoded, after `before` has run. */
export function createScrub (form: Form, fields: Fields, before: Scrub = (text) => text): Scrub {
  const secrets = Object.entries(fields).filter(([key]) => form.fields[key]?.private === true)
    .flatMap(([, value]) => [value].flat().map(String))
  const parts = secrets.flatMap((secret) => [secret, secret.slice(secret.indexOf('=') + 1), ...secret.split('/')])
  const forms = parts.flatMap((text) => [text, encodeURIComponent(text)])
    .filter((text) => text.length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, MASK), before(text))
}

/** Converts an error to one whose message names the service and shows no secret. */
export function toDeliveryError (err: unknown, { name }: Pick<Form, 'name'>, scrub: Scrub): unknown {
  if (err instanceof HttpStatusError) return toStatusError(err, name, scrub)
  if (err instanceof RateLimitedError) return new RateLimitedError(`${name} asks to slow down; try again later`, err.retryAfterMs)
  // The cause is dropped, because its message holds the URL and with it the secret.
  if (err instanceof ServiceDownError) return new ServiceDownError(`${name}: ${scrub(err.message)}`)
  return err instanceof Error && scrub(err.message) !== err.message ? new Error(`${name}: ${scrub(err.message)}`) : err
}

function toStatusError ({ status, body }: HttpStatusError, name: string, scrub: Scrub): Error {
  const reply = describeReply(body, scrub)
  const description = `${name} answered ${status}${reply === '' ? '' : `: ${reply}`}`
  return new HttpStatusError(status, `${description}; ${toAdvice(status)}`, reply)
}

function toAdvice (status: number): string {
  if (status >= 300 && status < 400) return 'redirects are not followed, so give the final address'
  return LASTING_STATUSES.has(status) ? 'check the fields of the channel' : 'try again later'
}

/** Creates the error for a 2xx response that does not confirm the message. */
export function toRefusal ({ status, text, json }: Reply, name: string, scrub: Scrub): Error {
  const reply = describeReply(text, scrub)
  const description = `${name} answered ${status}, but did not accept the message${reply === '' ? '' : `: ${reply}`}`
  const isClear = status === 204 || (Object.keys(json).length > 0 && !TEMPORARY.test(reply))
  return isClear ? new DeliveryRefusedError(`${description}; check the fields of the channel`) : new ServiceDownError(`${description}; try again later`)
}

/** Returns the reason that a service gives: one line of at most 200 characters. */
function describeReply (body: string, scrub: Scrub): string {
  const words = readReason(parseObject(body)) ?? body.replace(/<[^>]*>/g, ' ')
  return cutText(toLine(scrub(words)), MAX_REPLY_LENGTH)
}

/** Returns the object that a text encodes; an empty one for other texts, because many services send plain text. */
export function parseObject (text: string): Answer {
  const value = parseJson(text)
  return isFields(value) ? value : {}
}

/** Reads the reason; in an Apprise server's log it is the last line. */
function readReason (json: Answer): string | undefined {
  const last: unknown = Array.isArray(json.details) ? json.details.at(-1) : undefined
  if (Array.isArray(last) && typeof last[2] === 'string') return last[2]
  const errors: unknown = Array.isArray(json.errors) ? json.errors[0] : undefined
  return ['description', 'errorDescription', 'message', 'msg', 'error', 'detail', 'result']
    .map((key) => readText(json, key)).find((text) => text !== undefined) ??
    (typeof errors === 'string' ? errors : isFields(json.error) ? readText(json.error, 'message') : undefined)
}
