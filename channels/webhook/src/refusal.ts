import { HttpStatusError, type HttpResponse, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import type { Settings } from './settings.ts'

const QUOTED_CHARACTERS = 200

/** Creates the error for a response outside 2xx: host, status, the beginning of the response and the remedy. */
export function describeAnswer ({ status, headers, text }: HttpResponse, settings: Settings): Error {
  const reply = cleanText(hideSecrets(text(), settings)).slice(0, QUOTED_CHARACTERS).toWellFormed()
  const quoted = reply === '' ? '' : ` "${reply}"`
  const message = `${new URL(settings.url).host} answered ${status}${quoted}; ${toAdvice(status)}`
  if (status === 429) return new RateLimitedError(message, readRetryAfter(headers['retry-after']) ?? undefined)
  return status < 500 ? new HttpStatusError(status, message, reply) : new ServiceDownError(message)
}

/** Creates the error for a missing response: the client's message without secrets. */
export function describeSilence (err: ServiceDownError, settings: Settings): ServiceDownError {
  return new ServiceDownError(hideSecrets(err.message, settings), { cause: err.cause })
}

function toAdvice (status: number): string {
  if (status < 400) return 'redirects are not followed, so give the final address'
  if (status === 401 || status === 403) return 'check the secret'
  if (status === 404 || status === 405 || status === 410) return 'check the address'
  if (status === 429) return 'the receiver asks to slow down'
  return status < 500 ? 'check which requests the receiver accepts' : 'see the log of the receiver'
}

/**
 * Masks secrets, because the part after the host of a webhook's URL is often secret, and receivers like to quote it.
 * Parts shorter than four characters stay, because they hide no secret and occur in every word.
 */
function hideSecrets (text: string, { url, secret = '' }: Settings): string {
  const { host, password, pathname, search } = new URL(url)
  const address = new RegExp(`${host.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/\\S*`, 'g')
  return [secret, password, `${pathname}${search}`, pathname, search.slice(1)]
    .filter((part) => part.length >= 4)
    .reduce((shown, part) => shown.replaceAll(part, '…'), text.replace(address, () => `${host}/…`))
}

/** Converts text to one line without control and formatting characters. */
function cleanText (text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}

/** Converts seconds or a date (RFC 9110, 10.2.3) to milliseconds from now. */
function readRetryAfter (header = ''): number | null {
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}
