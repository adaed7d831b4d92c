import { inspect } from 'node:util'

/** Freezes a value deeply, so that a plugin that changes its arguments fails. */
export function deepFreeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}

/** Returns a copy without undefined properties, which JSON omits. */
export function withoutUndefined (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .map(([name, part]) => [name, withoutUndefined(part)]))
}

/** Returns an error as readable text; any other thrown value in Node's format. */
export function errorText (error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)
}
