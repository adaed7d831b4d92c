import { type Fields as Schema, isFields } from '../../read-fields.ts'

/** The part of every form node. */
interface Base {
  title?: string
  description?: string
  /** The value that the server uses without one. */
  initial?: unknown
}

/** A scalar that a person chooses. */
export type Choice = string | number | boolean

/** One field of an object; an optional field may stay empty. */
export interface NamedNode { name: string, isRequired: boolean, node: FormNode }

/** A part of a schema as a form shows it. */
export type FormNode = Base & (
  | { kind: 'text', format?: 'email' | 'uri', isSecret: boolean, isLong: boolean, minLength: number, maxLength?: number }
  | { kind: 'number', isInteger: boolean, minimum?: number, maximum?: number }
  | { kind: 'switch' }
  | { kind: 'choice', options: readonly Choice[] }
  /** A list of some of a few choices. */
  | { kind: 'choices', options: readonly Choice[] }
  /** A list of short texts. */
  | { kind: 'texts', max?: number }
  | { kind: 'list', item: FormNode, max?: number }
  /** Values by names that a person chooses. */
  | { kind: 'map', item: FormNode }
  | { kind: 'object', fields: readonly NamedNode[] }
  /** Everything else, as JSON. */
  | { kind: 'json' }
)

const readText = (value: unknown) => typeof value === 'string' ? value : undefined
const readNumber = (value: unknown) => typeof value === 'number' ? value : undefined
const isChoice = (value: unknown): value is Choice => ['string', 'number', 'boolean'].includes(typeof value)
const isPresent = <Value>(value: Value | undefined): value is Value => value !== undefined

/** The length above which a text gets several lines. */
const LINE_MAX = 300

/** Returns the choices of an `enum`, a `const`, or alternatives that are constants; null for other schemas. */
function readChoices ({ enum: values, const: constant, anyOf }: Schema): readonly Choice[] | null {
  if (Array.isArray(values)) return values.every(isChoice) ? values : null
  if (isChoice(constant)) return [constant]
  if (!Array.isArray(anyOf)) return null
  const constants = anyOf.map((one: unknown) => isFields(one) ? one.const : undefined)
  return constants.every(isChoice) ? constants : null
}

/** Returns a schema without the alternative `null`: an empty field means the same. */
function dropNull (schema: Schema): Schema {
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null')
    return { ...schema, type: types.length === 1 ? types[0] as unknown : types }
  }
  if (!Array.isArray(schema.anyOf)) return schema
  const others = schema.anyOf.filter((one: unknown) => !(isFields(one) && one.type === 'null'))
  const [only, ...more] = others as unknown[]
  return isFields(only) && more.length === 0 ? { ...schema, anyOf: undefined, ...only } : { ...schema, anyOf: others }
}

function readString (schema: Schema): FormNode {
  const maxLength = readNumber(schema.maxLength)
  const format = schema.format === 'email' || schema.format === 'uri' ? schema.format : undefined
  const isPlain = format === undefined && schema.pattern === undefined && schema.writeOnly !== true
  return {
    kind: 'text',
    format,
    isSecret: schema.writeOnly === true,
    isLong: isPlain && maxLength !== undefined && maxLength > LINE_MAX,
    minLength: readNumber(schema.minLength) ?? 0,
    maxLength
  }
}

function readList (schema: Schema): FormNode {
  const item = readNode(schema.items)
  const max = readNumber(schema.maxItems)
  if (item.kind === 'choice') return { kind: 'choices', options: item.options }
  return item.kind === 'text' && !item.isSecret ? { kind: 'texts', max } : { kind: 'list', item, max }
}

function readObject ({ properties, required, patternProperties, additionalProperties }: Schema): FormNode {
  const [pattern] = isFields(patternProperties) ? Object.values(patternProperties) : []
  if (!isFields(properties) || Object.keys(properties).length === 0) {
    const item = pattern ?? additionalProperties
    return isFields(item) ? { kind: 'map', item: readNode(item) } : { kind: 'json' }
  }
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return {
    kind: 'object',
    fields: Object.entries(properties)
      .map(([name, inner]) => ({ name, isRequired: needed.includes(name), node: readNode(inner) }))
  }
}

function readKind (schema: Schema): FormNode {
  const options = readChoices(schema)
  if (options !== null) return { kind: 'choice', options }
  switch (schema.type) {
    case 'string': return readString(schema)
    case 'integer':
    case 'number': {
      return { kind: 'number', isInteger: schema.type === 'integer', minimum: readNumber(schema.minimum), maximum: readNumber(schema.maximum) }
    }
    case 'boolean': return { kind: 'switch' }
    // A tuple has a schema for each place.
    case 'array': return Array.isArray(schema.items) ? { kind: 'json' } : readList(schema)
    case 'object': return readObject(schema)
    default: return { kind: 'json' }
  }
}

/** Reads a JSON schema of a plugin or channel as a form. Parts that no field can show become JSON. */
export function readNode (schema: unknown): FormNode {
  if (!isFields(schema)) return { kind: 'json' }
  const bare = dropNull(schema)
  const base = Object.fromEntries(Object.entries({
    title: readText(schema.title), description: readText(schema.description), initial: schema.default
  }).filter(([, value]) => isPresent(value)))
  return { ...readKind(bare), ...base }
}

/** Returns the label of a field: its title, else its name in words, such as "Client id" for `clientId`. */
export function labelOf (name: string, { title }: FormNode): string {
  if (title !== undefined) return title
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
