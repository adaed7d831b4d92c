import { MESSAGE_MAX_BYTES } from '../../core/sockets/request.ts'
import { JSON_DEPTH_MAX } from '../../core/web/json-depth.ts'

/** Size that a number, a boolean or null counts as. */
const SCALAR_BYTES = 8

/** Returns the approximate size of a payload in bytes; infinity if it is nested too deeply for recursive functions. */
export function sizeOf (value: unknown, depth = JSON_DEPTH_MAX): number {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value.length
  if (typeof value !== 'object' || value === null) return SCALAR_BYTES
  if (depth === 0) return Infinity
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + sizeOf(inner, depth - 1), 0)
}

/** True if a payload may be relayed to other players. Attachments of a message count too. */
export const isRelayable = (payload: unknown): boolean => sizeOf(payload) <= MESSAGE_MAX_BYTES
