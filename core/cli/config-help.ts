import type { TSchema } from '@sinclair/typebox'
import { describeType } from '../config/describe-type.ts'
import { createConfigSchema } from '../config/schema.ts'
import { EXIT_CODES, StartError } from '../errors.ts'
import type { Features } from '../feature.ts'

/** A setting as its help shows it. `<name>` in the path stands for any key, and `[]` for each entry of a list. */
interface DescribedSetting { path: string, schema: TSchema, isRequired: boolean }

const isSection = (schema: TSchema) => schema.type === 'object' && schema.properties !== undefined

/** Returns the schema below any key of a record, or of the entries of a list. */
function innerOf (schema: TSchema): { suffix: string, schema: TSchema } | null {
  const [value] = Object.values((schema.patternProperties ?? {}) as Record<string, TSchema>)
  if (value !== undefined && isSection(value)) return { suffix: '.<name>', schema: value }
  const items = schema.items as TSchema | undefined
  return items !== undefined && isSection(items) ? { suffix: '[]', schema: items } : null
}

/** Returns the settings of a section, including those below any key and in the entries of lists. */
export function listDescribed (schema: TSchema, path: string, isRequired = false): DescribedSetting[] {
  if (isSection(schema)) {
    const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
    return Object.entries(schema.properties as Record<string, TSchema>).flatMap(([key, property]) =>
      listDescribed(property, `${path}.${key}`, required.includes(key) && property.default === undefined))
  }
  const inner = innerOf(schema)
  return [{ path, schema, isRequired }, ...inner === null ? [] : listDescribed(inner.schema, `${path}${inner.suffix}`)]
}

function describeValues (schema: TSchema): string {
  const items = schema.items as TSchema | undefined
  return schema.type === 'array' && items !== undefined && !isSection(items)
    ? `a list; each entry is ${describeType(items)}`
    : describeType(schema)
}

function describeDefault ({ schema, isRequired }: DescribedSetting): string {
  if (isRequired) return 'required'
  return schema.default === undefined ? 'not set by default' : `default ${JSON.stringify(schema.default)}`
}

function describeSetting (setting: DescribedSetting): string {
  const { path, schema } = setting
  const facts = [
    describeValues(schema),
    describeDefault(setting),
    ...typeof schema.env === 'string' ? [`variable ${schema.env}`] : []
  ]
  return `  ${path}\n      ${schema.description ?? ''}\n      ${facts.join('; ')}`
}

async function loadSchemas (features: Features): Promise<Record<string, TSchema>> {
  return createConfigSchema(await features.loadSections()).properties
}

/** Returns the sections of `config.yml`, each with the first sentence of its description. */
export async function renderSections (features: Features): Promise<string> {
  const schemas = Object.entries(await loadSchemas(features))
  const width = Math.max(...schemas.map(([name]) => name.length))
  return schemas.map(([name, { description = '' }]) => `  ${name.padEnd(width)}  ${description.split('. ', 1)[0] ?? ''}`).join('\n')
}

/**
 * Returns the settings of a section, each with its description, type, default and variable.
 *
 * @throws StartError if there is no such section
 */
export async function renderSection (features: Features, name: string): Promise<string> {
  const schemas = await loadSchemas(features)
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  if (schema === undefined) {
    throw new StartError(`The configuration has no section '${name}'. The sections are: ${Object.keys(schemas).join(', ')}.`,
      { exitCode: EXIT_CODES.usage })
  }
  const settings = listDescribed(schema, name).map(describeSetting)
  return [...isSection(schema) ? [`${name}: ${schema.description ?? ''}`] : [], ...settings].join('\n\n')
}
