import type { components } from '../../api/schema.d.ts'

type Service = components['schemas']['AppriseService']
type Field = Service['fields'][number]

const TYPES = { string: 'string', int: 'integer', float: 'number', bool: 'boolean' } as const

function typeOf ({ type, values }: Field): Readonly<Record<string, unknown>> {
  if (type === 'choice') return { enum: values ?? [] }
  return type === 'list' ? { type: 'array', items: { type: 'string' } } : { type: TYPES[type] }
}

function toSchema (field: Field): Readonly<Record<string, unknown>> {
  const { label, min, max, default: initial } = field
  return {
    title: label,
    ...typeOf(field),
    ...(field.private ? { writeOnly: true } : {}),
    ...(initial === null ? {} : { default: initial }),
    ...(min === null ? {} : { minimum: min }),
    ...(max === null ? {} : { maximum: max })
  }
}

/** Returns the schema of the fields of a notification service, for the form from schemas. */
export function createServiceSchema ({ fields }: Service): Readonly<Record<string, unknown>> {
  const shown = fields.toSorted((a, b) =>
    Number(a.advanced) - Number(b.advanced) || Number(b.required) - Number(a.required))
  return {
    type: 'object',
    required: fields.filter(({ required }) => required).map(({ key }) => key),
    properties: Object.fromEntries(shown.map((field) => [field.key, toSchema(field)]))
  }
}
