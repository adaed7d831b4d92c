import {
  type ChannelDefinition, CredentialsRefusedError, DeliveryRefusedError, InvalidSettingsError, RateLimitedError,
  ServiceDownError
} from '@svc/plugin-sdk'
import { AddressRefusedError } from '../../../core/http/addresses.ts'
import { createMask } from '../../../core/http/mask.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { type ChannelSubject, listAddresses, listSecrets } from './http.ts'

/** The reason why a plugin call failed, in words that may be shown. */
export interface Failure {
  message: string
  /** True if the settings cannot be used; a retry is useless. */
  is_invalid: boolean
  /** True if certainly nothing was sent. */
  is_refused: boolean
  /** Delay before the next try that the destination asked for. */
  retry_after_ms: number
}
export type CallResult<Value> = { ok: true, value: Value } | { ok: false, failure: Failure }

const ERROR_CHARACTERS = 500

/** Returns the message of an error as one line without secrets. */
export function cleanMessage (err: unknown, secrets: readonly string[]): string {
  const text = createMask(secrets).text(err instanceof Error ? err.message : String(err))
  const line = text.replace(/[\s\p{C}]+/gu, ' ').trim().slice(0, ERROR_CHARACTERS).toWellFormed()
  return line === '' ? 'The channel failed without an error message' : line
}

const REFUSALS = [InvalidSettingsError, AddressRefusedError, CredentialsRefusedError, DeliveryRefusedError]

/** A plugin may report any value, even one that is not a number. */
const readRetryAfter = (err: unknown) =>
  err instanceof RateLimitedError && Number.isFinite(err.retryAfterMs) ? Number(err.retryAfterMs) : 0

export function explain (err: unknown, secrets: readonly string[]): Failure {
  return {
    message: cleanMessage(err, secrets),
    is_invalid: err instanceof InvalidSettingsError,
    is_refused: REFUSALS.some((refusal) => err instanceof refusal),
    retry_after_ms: readRetryAfter(err)
  }
}

const ELSEWHERE = 'the log of the server has the reason; ask an administrator'

/**
 * Returns a replacement for an error that reveals the server's network to somebody who is not an administrator; null to
 * show the error. Such errors contain the address of a name, or the response of a service that the settings do not
 * name, which is the server's own.
 */
export function hideNetwork (err: unknown, { settings, is_admin: isAdmin }: ChannelSubject): string | null {
  if (isAdmin) return null
  if (err instanceof AddressRefusedError) return 'The address is not in the public internet and is refused; use a public one'
  if (listAddresses(settings).length > 0) return null
  if (err instanceof DeliveryRefusedError) return `The service of the server refused the message; check the destination. Otherwise ${ELSEWHERE}`
  const isDown = err instanceof ServiceDownError || err instanceof CredentialsRefusedError
  return isDown ? `The service of the server did not accept the message; ${ELSEWHERE}` : null
}

/** Returns the secrets that no message may show. */
export const secretsOf = ({ trust, definition }: Loaded<ChannelDefinition>, subject: ChannelSubject) =>
  [...trust.secrets, ...listSecrets(subject, definition)]
