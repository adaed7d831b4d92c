/** A value of a form, as clients may send it. */
export type FieldValue = boolean | number | string | string[]
export type Fields = Readonly<Record<string, FieldValue>>

export interface Field {
  readonly label: string
  readonly type: 'string' | 'int' | 'float' | 'bool' | 'choice' | 'list'
  readonly required?: boolean
  /** True for a secret, which is never shown and never part of a message. */
  readonly private?: boolean
  /** The value of an option that is not set; the URL omits this value. */
  readonly default?: boolean | number | string
  readonly values?: readonly string[]
  /** Other words for a choice, used by the service itself or by other programs. */
  readonly synonyms?: Readonly<Record<string, string>>
  /** True for a list in which a comma is part of an entry and does not end it. */
  readonly commas?: boolean
  readonly min?: number
  readonly max?: number
  /** The pattern of a text, or of every entry of a list. For a choice: further allowed values. */
  readonly pattern?: RegExp
  /** The prefix of a list whose entries, `name=value`, are separate options in the URL: `+name=value`. */
  readonly prefix?: string
  /** True for a part of the URL that contains slashes, before its `@`. */
  readonly slashes?: boolean
}

/** A URL split into its parts, not decoded yet. */
export interface RawUrl { readonly schema: string, readonly rest: string, readonly query: string }

/** The URL format of a service, without its requests. */
export interface Form {
  /** The first schema of the service. */
  readonly id: string
  readonly name: string
  readonly setupUrl: string | null
  /** Schemas for http, and `secure` for https. */
  readonly plain: readonly string[]
  readonly secure: readonly string[]
  /** The possible forms of the URL after `schema://`. */
  readonly templates: readonly string[]
  /** URL parts by name, and options, which are the fields that no template contains. */
  readonly fields: Readonly<Record<string, Field>>
  /** Other names of fields in the query, by that name. */
  readonly aliases: Readonly<Record<string, string>>
  /** Options, as `key=value`, that ask for the default behaviour. */
  readonly defaultOptions: readonly string[]
  /** The fields that the service's own URL sets. */
  readonly urlFields: readonly string[]
  /** Rewrites URLs of other forms into a form that the templates describe. */
  rewrite? (raw: RawUrl): RawUrl
}

/** Expands `{host}[:{port}]` to `{host}` and `{host}:{port}`; brackets may be nested. */
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

/** True if a field is part of the URL and not an option. */
export function isToken ({ templates }: Form, key: string): boolean {
  return key === 'schema' || templates.some((template) => template.includes(`{${key}}`))
}

/** Returns the fields of a form, with the choice between http and https if both exist. */
export function fieldsOf (form: Form): Record<string, Field> {
  if (form.plain.length === 0 || form.secure.length === 0) return { ...form.fields }
  const schema: Field = { label: 'Schema', type: 'choice', values: schemasOf(form), default: form.secure[0] ?? form.id }
  return { schema, ...form.fields }
}
