/** A value of a form: what clients may send. */
export type FieldValue = boolean | number | string | string[]
export type Fields = Readonly<Record<string, FieldValue>>

export interface Field {
  readonly label: string
  readonly type: 'string' | 'int' | 'float' | 'bool' | 'choice' | 'list'
  readonly required?: boolean
  /** A secret: never shown, never part of a message. */
  readonly private?: boolean
  /** What an option means when it is not given; such a value is left out of the URL. */
  readonly default?: boolean | number | string
  readonly values?: readonly string[]
  /** Other words for a choice: how the service itself or other programs write it. */
  readonly synonyms?: Readonly<Record<string, string>>
  /** Of a list: a comma belongs to an entry and does not end it. */
  readonly commas?: boolean
  readonly min?: number
  readonly max?: number
  /** Of a text, or of every entry of a list. Of a choice: what else it may be. */
  readonly pattern?: RegExp
  /** Of a list whose entries, `name=value`, stand in the URL as options of their own: `+name=value`. */
  readonly prefix?: string
  /** A part of the address that holds slashes, before its `@`. */
  readonly slashes?: boolean
}

/** An address cut into its parts, nothing decoded yet. */
export interface RawUrl { readonly schema: string, readonly rest: string, readonly query: string }

/** How a service is addressed: everything about its URL, nothing about its requests. */
export interface Form {
  /** The first schema. */
  readonly id: string
  readonly name: string
  readonly setupUrl: string | null
  /** Schemas that mean http, and those that mean https. */
  readonly plain: readonly string[]
  readonly secure: readonly string[]
  /** What follows `schema://`. */
  readonly templates: readonly string[]
  /** Parts of the address by name, and options: those that stand in no template. */
  readonly fields: Readonly<Record<string, Field>>
  /** Other names of fields in the query. */
  readonly aliases: Readonly<Record<string, string>>
  /** Options, as `key=value`, that ask for what is done anyway. */
  readonly settled: readonly string[]
  /** The fields that are filled by the service's own URL. */
  readonly urlFields: readonly string[]
  /** For addresses that are written in more ways than templates say: the one that they do. */
  rewrite? (raw: RawUrl): RawUrl
}

/** `{host}[:{port}]` → `{host}` and `{host}:{port}`; brackets may stand in one another. */
export function expandTemplate (template: string): string[] {
  const open = template.indexOf('[')
  if (open === -1) return [template]
  const close = findClosing(template, open)
  const [before, inside, after] = [template.slice(0, open), template.slice(open + 1, close), template.slice(close + 1)]
  return [...expandTemplate(before + after), ...expandTemplate(before + inside + after)]
}

function findClosing (template: string, open: number): number {
  let depth = 0
  for (let at = open; at < template.length; at++) {
    if (template[at] === '[') depth++
    if (template[at] === ']' && --depth === 0) return at
  }
  throw new Error(`the template '${template}' has no ] for its [`)
}

export function tokensOf (template: string): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, token = '']) => token)
}

export function schemasOf ({ plain, secure }: Pick<Form, 'plain' | 'secure'>): string[] {
  return [...plain, ...secure]
}

/** Whether a field is part of the address and not an option. */
export function isToken ({ templates }: Form, key: string): boolean {
  return key === 'schema' || templates.some((template) => template.includes(`{${key}}`))
}

/** The fields of a form, with the choice between http and https when there is one. */
export function fieldsOf (form: Form): Record<string, Field> {
  if (form.plain.length === 0 || form.secure.length === 0) return { ...form.fields }
  const schema: Field = { label: 'Schema', type: 'choice', values: schemasOf(form), default: form.secure[0] ?? form.id }
  return { schema, ...form.fields }
}
