import { inspect } from 'node:util'

/** Freezes a value all the way down, so that a plugin that changes what it was given fails. */
export function deepFreeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}

/** A copy without properties that are undefined, which JSON leaves out. */
export function withoutUndefined (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .map(([name, part]) => [name, withoutUndefined(part)]))
}

/** An error as one reads it; whatever else was thrown, as Node shows it. */
export function errorText (error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)
}
