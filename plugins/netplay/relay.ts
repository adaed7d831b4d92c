import { MESSAGE_MAX_BYTES } from '../../core/sockets/request.ts'
import { JSON_DEPTH_MAX } from '../../core/web/json-depth.ts'

/** What a number, a boolean or null counts as. */
const SCALAR_BYTES = 8

/** About how many bytes a payload is; without end when it is nested too deeply for functions that walk it. */
export function sizeOf (value: unknown, depth = JSON_DEPTH_MAX): number {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value.length
  if (typeof value !== 'object' || value === null) return SCALAR_BYTES
  if (depth === 0) return Infinity
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + sizeOf(inner, depth - 1), 0)
}

/** Whether players may have it passed on: a message may bring attachments, which count. */
export const isRelayable = (payload: unknown): boolean => sizeOf(payload) <= MESSAGE_MAX_BYTES
