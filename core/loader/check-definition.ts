import { type Limits, MEDIA_KINDS, type PluginKind } from '@svc/plugin-sdk'
import { type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { findSchemaProblem } from './check-schema.ts'
import { LoadError } from './load-error.ts'
import type { Definition } from './registry.ts'

const NAME_MAX = 200
/** The most characters shown of a wrong value. */
const SHOWN_MAX = 100
const Positive = Type.Number({ exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Keys = Type.Array(Type.String())
const Id = Type.Union([Type.String(), Type.Integer()])

const RateSchema = Type.Object({
  requests: Type.Integer({ minimum: 1 }),
  perMs: Positive,
  hosts: Type.Optional(Type.Array(Type.String()))
})
/** The limits that a provider declares, or that its service reports. */
const LimitsSchema = Type.Object({
  concurrency: Type.Optional(Positive),
  timeoutMs: Type.Optional(Positive),
  rates: Type.Optional(Type.Array(RateSchema, { maxItems: 32 }))
})

const PlatformSchema = Type.Union([Id, Type.Array(Id), Type.Literal(true), Type.Object({
  ids: Type.Array(Id),
  family_name: Type.Optional(Type.String()),
  url_logo: Type.Optional(Type.String())
})])

/** Returns the path, the value and the problem of the first wrong part, or undefined. */
function findProblem (name: string, schema: TSchema, value: unknown): string | undefined {
  const problem = Value.Errors(schema, value).First()
  if (problem === undefined) return undefined
  const at = [name, ...problem.path.split('/').slice(1)].join('.')
  return `${at} ${(JSON.stringify(problem.value) ?? String(problem.value)).slice(0, SHOWN_MAX)}: ${problem.message.toLowerCase()}`
}

const OrderSchema = Type.Object({
  links: Type.Optional(Keys),
  after: Type.Optional(Keys),
  when: Type.Optional(Type.Union([Type.Literal('always'), Type.Literal('identified'), Type.Literal('unidentified')]))
})

/** The data of definitions by kind. Functions and schemas are checked on their own. */
const DATA: Readonly<Record<PluginKind, Readonly<Record<string, TSchema>>>> = {
  provider: {
    kind: Type.Union([Type.Literal('games'), Type.Literal('artwork'), Type.Literal('ids')]),
    id: Type.Union([Type.Literal('integer'), Type.Literal('string')]),
    limits: LimitsSchema,
    platforms: Type.Record(Type.String(), PlatformSchema),
    tag: Type.String({ pattern: '^[a-z][a-z0-9-]*$' }),
    order: OrderSchema,
    claims: Keys,
    usesHashes: Type.Boolean(),
    heartbeatFlag: Type.Union([Type.String({ pattern: '^[A-Z][A-Z0-9_]*$' }), Type.Null()]),
    attribution: Type.String(),
    media: Type.Object({}),
    index: Type.Object({ titles: Type.Optional(Type.Record(Type.String(), Type.String())) }),
    progress: Type.Object({})
  },
  channel: {
    adminOnly: Type.Boolean(),
    limits: Type.Object({ perMinute: Type.Optional(Positive), timeoutMs: Type.Optional(Positive) })
  },
  exporter: {
    fileName: Type.String(),
    route: Type.String(),
    media: Type.Partial(Type.Record(Type.Union(MEDIA_KINDS.map((kind) => Type.Literal(kind))), Type.String()))
  }
}
const COMMON = { name: Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }) }
const SCHEMAS = ['config', 'metadata', 'scanOptions', 'settings']
const SCHEMAS_OF_PROGRESS = ['account', 'schema']

/**
 * Returns the problem of a definition's data, or undefined. A wrong value would fail in the server where it is used,
 * such as while the API is built.
 */
export function findDefinitionProblem (kind: PluginKind, definition: Definition): string | undefined {
  const parts: Readonly<Record<string, unknown>> = { ...definition }
  for (const [name, schema] of Object.entries({ ...COMMON, ...DATA[kind] })) {
    const value = parts[name]
    if (value === undefined || typeof value === 'function') continue
    const problem = findProblem(name, schema, value)
    if (problem !== undefined) return `its definition has the ${problem}`
  }
  const { progress = {} } = definition as { progress?: object }
  const schemas = [
    ...SCHEMAS.map((name): [string, unknown] => [name, parts[name]]),
    ...SCHEMAS_OF_PROGRESS.map((name): [string, unknown] => [`progress.${name}`, Reflect.get(progress, name)])
  ]
  for (const [name, schema] of schemas) {
    if (schema === undefined) continue
    const problem = findSchemaProblem(schema, name)
    if (problem !== undefined) return problem
    if (!TypeGuard.IsObject(schema)) return `its ${name} is no schema that Type.Object of @svc/plugin-sdk made`
  }
  return undefined
}

/** @throws LoadError if the limits that a plugin calculated cannot be used */
export function checkLimits (limits: unknown): Limits {
  const problem = findLimitsProblem(limits)
  if (problem !== undefined) throw new LoadError('failed', `its definition calculates the ${problem}`)
  return limits as Limits
}

/** Returns the problem of limits, or undefined. */
export function findLimitsProblem (limits: unknown): string | undefined {
  return findProblem('limits', LimitsSchema, limits)
}
