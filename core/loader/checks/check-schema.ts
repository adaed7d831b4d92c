import { Kind, type TSchema, TypeGuard } from '@sinclair/typebox'

/** The kinds of schemas that JSON can hold and that every validator of the server understands. */
const GUARDS: ReadonlyMap<unknown, (schema: unknown) => boolean> = new Map(Object.entries({
  Any: TypeGuard.IsAny,
  Array: TypeGuard.IsArray,
  Boolean: TypeGuard.IsBoolean,
  Integer: TypeGuard.IsInteger,
  Intersect: TypeGuard.IsIntersect,
  Literal: TypeGuard.IsLiteral,
  Never: TypeGuard.IsNever,
  Not: TypeGuard.IsNot,
  Null: TypeGuard.IsNull,
  Number: TypeGuard.IsNumber,
  Object: TypeGuard.IsObject,
  Record: TypeGuard.IsRecord,
  String: TypeGuard.IsString,
  TemplateLiteral: TypeGuard.IsTemplateLiteral,
  Tuple: TypeGuard.IsTuple,
  Union: TypeGuard.IsUnion,
  Unknown: TypeGuard.IsUnknown
}))
const NO_SCHEMA = 'is not a schema made with Type of @svc/plugin-sdk, or describes values that JSON cannot hold'
/** The deepest level of a schema. The schemas of bundled plugins are 6 deep; the serializer refuses 100. */
const DEPTH_MAX = 32
/** Keywords with schemas, besides `properties` and `patternProperties`. */
const INNER = ['items', 'anyOf', 'allOf', 'not', 'contains', 'additionalProperties', 'additionalItems', 'unevaluatedProperties']
/** Keywords that validators read, but `Type` never writes. */
const FOREIGN = ['id', 'definitions', 'dependencies', 'oneOf', 'if', 'then', 'else', 'propertyNames', 'nullable', 'discriminator']
/** Formats that the server checks. */
const FORMATS = ['date-time', 'uri', 'uuid', 'email']

const isText = (value: unknown) => typeof value === 'string'
const isSwitch = (value: unknown) => typeof value === 'boolean'
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isFilledList = (value: unknown) => Array.isArray(value) && value.length > 0

/** The values of keywords that no guard checks, or only those of some kinds. */
const VALUES: ReadonlyMap<string, (value: unknown) => boolean> = new Map(Object.entries({
  title: isText,
  description: isText,
  env: isText,
  pattern: (value: unknown) => isText(value) && isPattern(String(value)),
  properties: (value: unknown) => !Object.hasOwn(Object(value) as object, '__proto__'),
  patternProperties: (value: unknown) => Object.keys(Object(value) as object).every(isPattern),
  format: (value: unknown) => isText(value) && FORMATS.includes(String(value)),
  readOnly: isSwitch,
  writeOnly: isSwitch,
  folder: isSwitch,
  uniqueItems: isSwitch,
  examples: Array.isArray,
  enum: isFilledList,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value: unknown) => isNumber(value) && Number(value) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount
}))

/** Validators compile patterns with the flag `u`. */
function isPattern (text: string): boolean {
  try {
    RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}

function findWrongKeyword (schema: TSchema): string | undefined {
  return Object.entries(schema).find(([keyword, value]) =>
    keyword.startsWith('$') || FOREIGN.includes(keyword) || VALUES.get(keyword)?.(value) === false)?.[0]
}

function listInnerSchemas (schema: TSchema, path: string): [string, unknown][] {
  const named = [schema.properties, schema.patternProperties].flatMap((inner: unknown) =>
    typeof inner === 'object' && inner !== null ? Object.entries(inner) as [string, unknown][] : [])
  const keywordSchemas = INNER.flatMap((keyword) => {
    const inner: unknown = schema[keyword]
    return Array.isArray(inner) ? inner as unknown[] : inner === undefined || typeof inner === 'boolean' ? [] : [inner]
  })
  return [...named.map(([name, inner]): [string, unknown] => [`${path}.${name}`, inner]),
    ...keywordSchemas.map((inner): [string, unknown] => [path, inner])]
}

/**
 * Returns the problem of a schema that a plugin declares, or undefined. A schema that `Type` made has none. Any other
 * could keep the server from building its API, because plugins' schemas are part of it.
 *
 * @param path the name of the schema for messages, such as `config`
 */
export function findSchemaProblem (schema: unknown, path: string, depth = 0): string | undefined {
  if (depth > DEPTH_MAX) return `its ${path} is more than ${DEPTH_MAX} levels deep`
  if (typeof schema !== 'object' || schema === null) return `its ${path} ${NO_SCHEMA}`
  const keyword = findWrongKeyword(schema as TSchema)
  if (keyword !== undefined) return `its ${path} has a '${keyword}' that the server cannot use; remove it`
  const inner = listInnerSchemas(schema as TSchema, path)
  // Checked first, because a guard goes through all levels below, of any depth.
  for (const [name, one] of inner) {
    const problem = findSchemaProblem(one, name, depth + 1)
    if (problem !== undefined) return problem
  }
  return GUARDS.get((schema as TSchema)[Kind])?.(schema) === true ? undefined : `its ${path} ${NO_SCHEMA}`
}
