import { extname } from 'node:path'
import { type Limits, MEDIA_KINDS, type PluginKind } from '@svc/plugin-sdk'
import { type TObject, type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { describeType } from '../../config/describe-type.ts'
import { findSchemaProblem } from './check-schema.ts'
import { LoadError } from '../load-error.ts'
import { pack } from '../descriptor.ts'
import { PathRefusedError, safeName, safeRelativePath } from '../../files/safe-path.ts'
import type { Definition } from '../registry.ts'

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
  // Looking for errors costs several times as much, and nearly no value has any.
  if (Value.Check(schema, value)) return undefined
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
    route: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
    media: Type.Partial(Type.Record(Type.Union(MEDIA_KINDS.map((kind) => Type.Literal(kind))), Type.String()))
  }
}
/** Extensions of text files that are no ROM; scans skip a file that has the name of an exporter's. */
const EXPORT_EXTENSIONS = ['.cfg', '.csv', '.dat', '.html', '.ini', '.json', '.lpl', '.md', '.tsv', '.txt', '.xml', '.yaml', '.yml']
const COMMON = { name: Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }) }
const SCHEMAS = ['config', 'metadata', 'scanOptions', 'settings']
const SCHEMAS_OF_PROGRESS = ['account', 'schema']

type DefinitionParts = Readonly<Record<string, unknown>>
type MemberType = 'function' | 'object' | 'string'

/** Members that each kind must have; the rest of its definition is optional. */
const REQUIRED: Readonly<Record<PluginKind, Readonly<Record<string, MemberType>>>> = {
  provider: {},
  channel: { settings: 'object', deliver: 'function', describe: 'function' },
  exporter: { fileName: 'string', media: 'object', render: 'function' }
}
/** Members that each group of a provider's definition must have. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, MemberType>>>> = {
  media: { fetch: 'function' },
  index: { build: 'function' },
  progress: { account: 'object', schema: 'object', read: 'function' }
}
/** Members of a provider by their name in the contract of version 1, with their place since version 2. */
const MOVED: Readonly<Record<string, string>> = {
  links: 'order.links',
  after: 'order.after',
  when: 'order.when',
  fetchMedia: 'media.fetch',
  acceptMedia: 'media.accept',
  titles: 'index.titles',
  account: 'progress.account',
  readProgress: 'progress.read'
}

export const isPluginKind = (kind: string): kind is PluginKind => Object.hasOwn(REQUIRED, kind)

const kindOfValue = (value: unknown) => value === null ? 'null' : typeof value

/** Returns the first member that is missing or of another type, such as `the function 'render'`, or undefined. */
function findMissingPart (parts: DefinitionParts, required: Readonly<Record<string, MemberType>>, group = ''): string | undefined {
  const missingPart = Object.entries(required).find(([name, type]) => kindOfValue(parts[name]) !== type)
  return missingPart && `the ${missingPart[1]} '${group}${missingPart[0]}'`
}

/** Returns the problem of a provider of an older contract, without lookups, or whose matches could not be stored. */
function findProviderProblem (parts: DefinitionParts): string | undefined {
  const [former, place] = Object.entries(MOVED).find(([name]) => parts[name] !== undefined) ?? []
  if (former !== undefined) return `its definition has '${former}', which is '${place}' since SDK 2.0.0; move it there`
  for (const [group, required] of Object.entries(GROUPS)) {
    const given = parts[group]
    const missingPart = given === undefined ? undefined : findMissingPart({ ...given }, required, `${group}.`)
    if (missingPart !== undefined) return `its definition lacks ${missingPart}, which '${group}' needs`
  }
  const foreign = findForeignSetting(parts)
  if (foreign !== undefined) return foreign
  if (typeof parts.identify !== 'function' && typeof parts.getById !== 'function') {
    return "its definition has neither the function 'identify' nor 'getById'; add one of them"
  }
  return parts.kind === 'ids' || parts.id === 'integer' || parts.id === 'string'
    ? undefined
    : "its definition lacks 'id'; add id: 'integer' or id: 'string', or kind: 'ids' for a provider without ids of its own"
}

/**
 * Refuses account settings with names of the server's own: an update of a user stores each field that a provider names
 * among its settings, and hands it to the provider, which could so receive passwords.
 */
function findForeignSetting ({ key, progress }: DefinitionParts): string | undefined {
  const { account } = (progress ?? {}) as { account?: { properties?: object } }
  const prefix = `${String(key).replaceAll('-', '_')}_`
  const foreign = Object.keys(account?.properties ?? {}).find((name) => !name.startsWith(prefix))
  return foreign === undefined
    ? undefined
    : `its account has the setting '${foreign}', whose name must begin with '${prefix}'`
}

function findDataProblem (kind: PluginKind, parts: DefinitionParts): string | undefined {
  for (const [name, schema] of Object.entries({ ...COMMON, ...DATA[kind] })) {
    const value = parts[name]
    if (value === undefined || typeof value === 'function') continue
    const problem = findProblem(name, schema, value)
    if (problem !== undefined) return `its definition has the ${problem}`
  }
  return undefined
}

function findSchemasProblem (parts: DefinitionParts): string | undefined {
  const progress = (parts.progress ?? {}) as DefinitionParts
  const schemas = [
    ...SCHEMAS.map((name): [string, unknown] => [name, parts[name]]),
    ...SCHEMAS_OF_PROGRESS.map((name): [string, unknown] => [`progress.${name}`, progress[name]])
  ]
  for (const [name, schema] of schemas) {
    if (schema === undefined) continue
    const problem = findSchemaProblem(schema, name)
    if (problem !== undefined) return problem
    if (!TypeGuard.IsObject(schema)) return `its ${name} is not a schema made with Type.Object of @svc/plugin-sdk`
    const wrongDefault = findWrongDefault(name, schema)
    if (wrongDefault !== undefined) return wrongDefault
  }
  return undefined
}

/** Refuses a default that contradicts its own schema, because no setting of the operator would be at fault. */
function findWrongDefault (name: string, { properties }: TObject): string | undefined {
  const wrong = Object.entries(properties)
    .find(([, schema]) => 'default' in schema && !Value.Check(schema, Value.Default(schema, undefined)))
  if (wrong === undefined) return undefined
  const [property, schema] = wrong
  return `its ${name}.${property} has the default ${JSON.stringify(schema.default)?.slice(0, SHOWN_MAX)}, which is not ` +
    `${describeType(schema)}; its author has to correct it`
}

/** Returns the problem of a definition that does not fit the contract of its kind, or undefined. */
export function findContractProblem (kind: PluginKind, definition: Definition): string | undefined {
  const parts: DefinitionParts = { ...definition }
  const missingPart = findMissingPart(parts, REQUIRED[kind])
  if (missingPart !== undefined) return `its definition lacks ${missingPart}, which every ${kind} has`
  return kind === 'provider' ? findProviderProblem(parts) : undefined
}

/** A NUL or half of a surrogate pair in JSON. PostgreSQL stores neither, and one row has the data of all plugins. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/

function findTextProblem (parts: DefinitionParts): string | undefined {
  const name = Object.keys(parts).find((part) => UNSTORABLE.test(JSON.stringify(pack({ [part]: parts[part] }))))
  return name && `its ${JSON.stringify(name)} has a text with a NUL or half of a surrogate pair; leave that out`
}

/** Refuses an exporter's file that could have the name of a ROM, because scans would skip that ROM. */
function findFileNameProblem ({ fileName }: DefinitionParts): string | undefined {
  if (EXPORT_EXTENSIONS.includes(extname(String(fileName)).toLowerCase())) return undefined
  return `its fileName ${JSON.stringify(fileName).slice(0, SHOWN_MAX)} may be that of a ROM, which scans would then skip: ` +
    `end it with ${EXPORT_EXTENSIONS.slice(0, -1).join(', ')} or ${EXPORT_EXTENSIONS.at(-1)}`
}

/** Refuses a file or a media folder of an exporter that is outside the platform folder, or is that folder itself. */
function findPlaceProblem ({ fileName, media }: DefinitionParts): string | undefined {
  try {
    safeName(String(fileName))
    for (const [kind, folder] of Object.entries(media ?? {})) {
      if (safeRelativePath(String(folder)) === '') return `its media.${kind} names no folder; name one in the platform folder, such as "covers"`
    }
    return undefined
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    return `its fileName or media leads out of the platform folder: ${err.message}; name a file and folders in it`
  }
}

/**
 * Returns the problem of a definition's data and schemas, or undefined. A wrong value would fail in the server where it
 * is used, such as while the API is built.
 */
export function findDefinitionProblem (kind: PluginKind, definition: Definition): string | undefined {
  const parts: DefinitionParts = { ...definition }
  const problem = findDataProblem(kind, parts) ?? findSchemasProblem(parts)
  return problem ?? findTextProblem(parts) ?? (kind === 'exporter' ? findFileNameProblem(parts) ?? findPlaceProblem(parts) : undefined)
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
