import { CredentialsRefusedError, HttpStatusError, RateLimitedError, ServiceDownError } from '../errors.ts'
import type { PlannedResponse } from './responses.ts'

/** Responses that any service can send; a plugin must treat each of them as an outage and never crash. */
const FAULT_LIST = [
  ['status 500', { url: '*', status: 500, text: 'Internal Server Error' }],
  ['status 429', { url: '*', status: 429, headers: { 'retry-after': '3' } }],
  ['status 401', { url: '*', status: 401, json: { error: 'unauthorized' } }],
  ['status 404', { url: '*', status: 404, text: 'Not Found' }],
  ['a time-out', { url: '*', error: 'timeout' }],
  ['an HTML page', { url: '*', text: '<!doctype html><title>Maintenance</title>' }],
  ['an empty body', { url: '*', text: '' }],
  ['bytes that are not text', { url: '*', bytes: new Uint8Array([0, 255, 254, 192, 1]) }],
  ['JSON null', { url: '*', json: null }],
  ['a JSON number', { url: '*', json: 7 }],
  ['a JSON text', { url: '*', json: 'maintenance' }],
  ['an empty JSON list', { url: '*', json: [] }],
  ['a JSON list of null', { url: '*', json: [null] }],
  ['an empty JSON object', { url: '*', json: {} }],
  ['an error as JSON', { url: '*', json: { error: 'down', data: null, results: null } }]
] as const satisfies readonly (readonly [string, PlannedResponse])[]
export type Fault = typeof FAULT_LIST[number][0]
export const FAULTS: ReadonlyMap<Fault, PlannedResponse> = new Map<Fault, PlannedResponse>(FAULT_LIST)

const TYPED_ERRORS = [CredentialsRefusedError, HttpStatusError, RateLimitedError, ServiceDownError]

/** True if the error is one with which a plugin says that the service, not the plugin, has failed. */
export function isTypedError (err: unknown): boolean {
  return TYPED_ERRORS.some((type) => err instanceof type)
}

const WRONG_VALUES: readonly unknown[] = [null, 7, 'x', {}, []]
const MAX_VARIANTS = 250

export interface Variant {
  /** The path of the change and the new value. */
  readonly change: string
  readonly value: unknown
}

/** Returns copies of a JSON value, each with one part of another type: at most 250, spread evenly. */
export function wrongShapes (json: unknown): Variant[] {
  const paths = listPaths(json)
  const all = paths.flatMap((path) => WRONG_VALUES
    .filter((wrong) => typeOf(wrong) !== typeOf(read(json, path)))
    .map((wrong) => ({ path, wrong })))
  const step = Math.max(1, all.length / MAX_VARIANTS)
  return Array.from({ length: Math.min(all.length, MAX_VARIANTS) }, (_, i) => all[Math.floor(i * step)])
    .filter((one) => one !== undefined)
    .map(({ path, wrong }) => ({
      change: `${path.join('.')} = ${JSON.stringify(wrong)}`,
      value: replace(json, path, wrong)
    }))
}

/** Returns copies of a JSON value without every second field, because services omit unknown values. */
export function poorShapes (json: unknown): Variant[] {
  return [0, 1].map((keptIndex) => ({
    change: `every second field removed, from the ${keptIndex === 0 ? 'second' : 'first'} one on`, value: dropEverySecond(json, keptIndex)
  }))
}

function dropEverySecond (value: unknown, keptIndex: number): unknown {
  if (Array.isArray(value)) return value.map((part) => dropEverySecond(part, keptIndex))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value)
    .filter((_, index) => index % 2 === keptIndex)
    .map(([name, part]) => [name, dropEverySecond(part, keptIndex)]))
}

function typeOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

function listPaths (value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => [[...path, name], ...listPaths(part, [...path, name])])
}

function read (value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, name) =>
    typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined, value)
}

function replace (value: unknown, path: readonly string[], wrong: unknown): unknown {
  const copy: unknown = structuredClone(value)
  const parent = read(copy, path.slice(0, -1))
  if (typeof parent === 'object' && parent !== null) Reflect.set(parent, path.at(-1) ?? '', wrong)
  return copy
}
