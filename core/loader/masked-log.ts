import type { Logger } from '@svc/plugin-sdk'
import { type Mask, createMask } from '../http/mask.ts'

/** The deepest level of objects that is logged. */
const DEPTH_MAX = 6

function maskError (err: Error, mask: Mask, depth: number): Error {
  const masked = new Error(mask.text(err.message))
  masked.name = err.name
  if (err.cause !== undefined) masked.cause = maskValue(err.cause, mask, depth + 1)
  if (err.stack !== undefined) masked.stack = mask.text(err.stack)
  return masked
}

function maskValue (value: unknown, mask: Mask, depth: number): unknown {
  if (typeof value === 'string') return mask.text(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_MAX) return '…'
  if (value instanceof Error) return maskError(value, mask, depth)
  if (Array.isArray(value)) return value.map((each) => maskValue(each, mask, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskValue(each, mask, depth + 1)]))
}

/** Creates a log that masks the plugin's secrets in everything that the plugin writes. */
export function createMaskedLog (log: Logger, secrets: readonly string[]): Logger {
  const mask = createMask(secrets)
  const masked = (fields: object) => maskValue(fields, mask, 0) as object
  return {
    debug: (fields, message) => { log.debug(masked(fields), mask.text(message)) },
    info: (fields, message) => { log.info(masked(fields), mask.text(message)) },
    warn: (fields, message) => { log.warn(masked(fields), mask.text(message)) },
    error: (fields, message) => { log.error(masked(fields), mask.text(message)) }
  }
}
