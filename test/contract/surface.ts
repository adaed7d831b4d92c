import { major, minor } from 'semver'

interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
type Content = Record<string, { schema?: Schema }>
interface Operation {
  operationId: string
  parameters?: { in: string, name: string, required?: boolean }[]
  requestBody?: { required?: boolean, content: Content }
  responses: Record<string, { content?: Content }>
}
export interface Document {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

interface OperationSurface { at: string, parameters: string[], required: string[], takes: string[], answers: string[] }
interface SchemaSurface { fields: Record<string, string>, required: string[] }
/** The part of the API on which clients rely. Required means that a caller must send it. */
export interface Surface {
  version: string
  operations: Record<string, OperationSurface>
  schemas: Record<string, SchemaSurface>
}

const nameOf = (ref: string) => ref.split('/').at(-1) ?? ref

/** Lists the names of the types that a value may have. */
function listTypes ({ $ref, type, items, anyOf, oneOf }: Schema): string[] {
  if ($ref !== undefined) return [nameOf($ref)]
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return [...new Set(alternatives.flatMap(listTypes))].sort()
  if (type === 'array') return listTypes(items ?? {}).map((each) => `${each}[]`)
  return type === undefined ? ['any'] : [type].flat()
}

const typeOf = (schema: Schema) => listTypes(schema).join(' | ')
const listContent = (content: Content = {}) => Object.entries(content).map(([media, { schema = {} }]) => `${media} ${typeOf(schema)}`)

function readOperation (at: string, { parameters = [], requestBody, responses }: Operation): OperationSurface {
  const place = (one: { in: string, name: string }) => `${one.in} ${one.name}`
  return {
    at,
    parameters: parameters.map(place).sort(),
    required: parameters.filter(({ required }) => required === true).map(place).sort(),
    takes: listContent(requestBody?.content).sort(),
    answers: Object.entries(responses).filter(([status]) => /^2/.test(status))
      .flatMap(([status, { content }]) => content === undefined ? [status] : listContent(content).map((one) => `${status} ${one}`)).sort()
  }
}

const REFERENCE = /"\$ref":"#\/components\/schemas\/([^"]+)"/g

/** Lists the schemas that clients send. */
function listSent ({ paths, components }: Document): Set<string> {
  const sent = new Set<string>()
  function follow (value: unknown): void {
    for (const [, name = ''] of (JSON.stringify(value) ?? '').matchAll(REFERENCE)) {
      if (sent.has(name)) continue
      sent.add(name)
      follow(components.schemas[name])
    }
  }
  for (const { requestBody } of Object.values(paths).flatMap((methods) => Object.values(methods))) follow(requestBody)
  return sent
}

/** Returns the part of a document on which clients rely, in a form with readable diffs. */
export function readSurface (document: Document): Surface {
  const sent = listSent(document)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods)
    .map(([method, operation]) => [operation.operationId, readOperation(`${method.toUpperCase()} ${path}`, operation)] as const))
  const { schemas: given } = document.components
  const schemas = Object.entries(given).map(([name, { properties = {}, required = [] }]) => [name, {
    fields: Object.fromEntries(Object.entries(properties).map(([field, schema]) => [field, typeOf(schema)])),
    required: sent.has(name) ? [...required].sort() : []
  }] as const)
  const byName = (one: readonly [string, unknown], other: readonly [string, unknown]) => one[0] < other[0] ? -1 : 1
  return {
    version: document.info.version,
    operations: Object.fromEntries(operations.sort(byName)),
    schemas: Object.fromEntries(schemas.sort(byName))
  }
}

const without = (list: readonly string[], others: readonly string[]) => list.filter((one) => !others.includes(one))

/** Returns the statuses with the body `null` as former documents named them, without the body. */
const nameUndescribed = (answers: readonly string[]) =>
  answers.filter((one) => one.endsWith(' application/json null')).map((one) => one.slice(0, one.indexOf(' ')))

function compareOperation (id: string, then: OperationSurface, now: OperationSurface | undefined): string[] {
  if (now === undefined) return [`${id} is gone`]
  return [
    ...(then.at === now.at ? [] : [`${id} moved from ${then.at} to ${now.at}`]),
    ...without(then.parameters, now.parameters).map((one) => `${id} takes no ${one} any more`),
    ...without(now.required, then.required).map((one) => `${id} demands ${one}`),
    ...without(then.takes, now.takes).map((one) => `${id} does not take ${one} any more`),
    ...(then.takes.length === 0 && now.takes.length > 0 ? [`${id} demands a body`] : []),
    ...without(then.answers, [...now.answers, ...nameUndescribed(now.answers)]).map((one) => `${id} does not answer ${one} any more`)
  ]
}

function compareSchema (name: string, then: SchemaSurface, now: SchemaSurface | undefined): string[] {
  if (now === undefined) return [`${name} is gone`]
  const narrowed = Object.entries(then.fields).flatMap(([field, type]) => {
    const present = now.fields[field]
    if (present === undefined) return [`${name}.${field} is gone`]
    const lost = present === 'any' ? [] : without(type.split(' | '), present.split(' | '))
    return lost.length === 0 ? [] : [`${name}.${field} was ${type} and is ${present}`]
  })
  return [...narrowed, ...without(now.required, then.required).map((field) => `${name} demands ${field}`)]
}

/** Before 1.0.0 the second number is the major version. */
const isMajorStep = (then: string, now: string) =>
  major(now) > major(then) || (major(now) === 0 && minor(now) > minor(then))

/** Lists changes that break clients of `then` at a server of `now`; none if the version allows breaking changes. */
export function listBreaks (then: Surface, now: Surface): string[] {
  if (isMajorStep(then.version, now.version)) return []
  return [
    ...Object.entries(then.operations)
      .flatMap(([id, operation]) => compareOperation(id, operation, now.operations[id])),
    ...Object.entries(then.schemas).flatMap(([name, schema]) => compareSchema(name, schema, now.schemas[name]))
  ]
}
