import { checkFields, pickTemplate, wrong } from './fields.ts'
import { type Field, type Fields, type FieldValue, type Form, fieldsOf, isToken, tokensOf } from './form.ts'

/** Options every service of Apprise has that are the server's to set: they are read over and never offered. */
export const SERVER_OPTIONS = ['rto', 'cto', 'redirect', 'retry', 'wait', 'overflow', 'format', 'emojis', 'store', 'tz', 'optional']
/** Options whose value is a path on the machine that sends. */
export const FILE_OPTION = /^(?:template|attach(?:ment)?|keyfile|subfile|pem|pgp_?key|cert(?:ificate|file)?)$/

/** Parts of an address that are paths themselves. */
const PATH_TOKENS = new Set(['path', 'fullpath'])

/** An address cut into its parts, nothing decoded yet. */
export interface RawUrl { readonly schema: string, readonly rest: string, readonly query: string }

/** The parts of `schema://rest?query`, or null when it is no such text. `#` is no mark here: channels are named by it. */
export function splitUrl (text: string): RawUrl | null {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^?\s]+)(?:\?(\S*))?$/i.exec(text)
  if (match === null) return null
  const [, schema = '', rest = '', query = ''] = match
  return { schema: schema.toLowerCase(), rest, query }
}

/** The fields in an address of this service. @throws InvalidSettingsError when a part is missing, wrong or unknown */
export function readUrl (form: Form, { schema, rest, query }: RawUrl): Fields {
  const options = readQuery(form, query)
  const bound = bindTemplate(form, rest, Object.keys(options))
  const lists = Object.entries(options).filter(([key, value]) => Array.isArray(value) && Array.isArray(bound[key]))
    .map(([key, value]): [string, unknown] => [key, [bound[key], value].flat()])
  const chosen = fieldsOf(form).schema === undefined ? {} : { schema }
  return checkFields(form, { ...bound, ...options, ...Object.fromEntries(lists), ...chosen })
}

/** The address with all that is set; what has its default is left out. @throws InvalidSettingsError */
export function writeUrl (form: Form, fields: Fields): string {
  const schema = typeof fields.schema === 'string' ? fields.schema : form.id
  const address = pickTemplate(form, fields).replace(/\{(\w+)\}/g, (_, token: string) => writeToken(token, fields[token]))
  const query = Object.entries(form.fields).filter(([key, field]) =>
    !isToken(form, key) && fields[key] !== undefined && fields[key] !== field.default)
    .flatMap(([key, field]) => writeOption(key, field, fields[key] ?? ''))
  return `${schema}://${address}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Of the templates that fit, the longest whose values are good. */
function bindTemplate (form: Form, rest: string, given: readonly string[]): Record<string, FieldValue> {
  const templates = new Set(form.templates.flatMap((template) => [template, withoutEnd(template, given)]))
  const byLength = [...templates].sort((a, b) => tokensOf(b).length - tokensOf(a).length)
  const candidates = byLength.map((template) => matchTemplate(form, template, rest)).filter((bound) => bound !== null)
  const good = candidates.find((bound) => Object.entries(bound).every(([key, value]) => isGood(form, key, value)))
  const bound = good ?? candidates[0]
  if (bound !== undefined) return bound
  throw wrong(form, 'has no address of this form', `it is one of ${form.templates.slice(0, 8).map((template) => `${form.id}://${template}`).join(' · ')}`)
}

/** Without the last parts that the query gives: `tgram://token?to=chat`. */
function withoutEnd (template: string, given: readonly string[]): string {
  const [, start, last] = /^(.+)\/\{(\w+)\}$/.exec(template) ?? []
  return start !== undefined && last !== undefined && given.includes(last) ? withoutEnd(start, given) : template
}

function isGood ({ fields }: Form, key: string, value: FieldValue): boolean {
  const { pattern } = fields[key] ?? {}
  return pattern === undefined || [value].flat().every((text) => typeof text === 'string' && pattern.test(text))
}

function matchTemplate (form: Form, template: string, rest: string): Record<string, FieldValue> | null {
  const tokens = tokensOf(template)
  const match = toPattern(form, template.replace(/\/$/, '')).exec(rest.replace(/\/+$/, ''))
  if (match === null) return null
  return Object.fromEntries(tokens.map((token, index) => [token, readToken(form, token, match[index + 1] ?? '')]))
}

/** Between `@`, `:` and `/` stands one part; a list takes all that is left of the path. */
function toPattern (form: Form, template: string): RegExp {
  const [authority = '', ...path] = template.split('/')
  const source = (text: string, inPath: boolean) => text.split(/(\{\w+\})/).map((piece, index, pieces) => {
    const token = /^\{(\w+)\}$/.exec(piece)?.[1]
    if (token === undefined) return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    if (isPath(form, token)) return '(.+)'
    if (inPath) return '([^/]+)'
    if (form.fields[token]?.slashes === true) return '([^@]+)'
    const isBeforePort = pieces[index + 1]?.startsWith(':') === true || token === 'host' || token === 'user'
    return token === 'host' ? '(\\[[^\\]/]+\\]|[^/@:]+)' : isBeforePort ? '([^/@:]+)' : '([^/@]+)'
  }).join('')
  return new RegExp(`^${[source(authority, false), ...path.map((part) => source(part, true))].join('/')}$`, 's')
}

function isPath ({ fields }: Form, token: string): boolean {
  return fields[token]?.type === 'list' || PATH_TOKENS.has(token)
}

function readToken (form: Form, token: string, raw: string): FieldValue {
  if (form.fields[token]?.type === 'list') return raw.split('/').filter((part) => part !== '').map((part) => decode(form, part))
  return decode(form, raw)
}

function writeToken (token: string, value: FieldValue | undefined): string {
  if (Array.isArray(value)) return value.map((part) => encodeURIComponent(part)).join('/')
  const text = String(value)
  if (PATH_TOKENS.has(token)) return text.split('/').map((part) => encodeURIComponent(part)).join('/')
  return token === 'host' ? text : encodeURIComponent(text)
}

function writeOption (key: string, { prefix }: Field, value: FieldValue): string[] {
  if (typeof value === 'boolean') return [`${key}=${value ? 'yes' : 'no'}`]
  if (!Array.isArray(value)) return [`${key}=${encodeURIComponent(value)}`]
  if (prefix === undefined) return [`${key}=${value.map((part) => encodeURIComponent(part)).join(',')}`]
  return value.map((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return `${prefix}${encodeURIComponent(name)}=${encodeURIComponent(rest.join('='))}`
  })
}

function readQuery (form: Form, query: string): Record<string, string | string[]> {
  const options: Record<string, string | string[]> = {}
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const at = pair.indexOf('=')
    const [name, raw] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    readOption(form, decode(form, name), raw, options)
  }
  return options
}

function readOption (form: Form, name: string, raw: string, options: Record<string, string | string[]>): void {
  const fields = fieldsOf(form)
  const isNamed = ({ prefix }: Field) => prefix !== undefined && name.startsWith(prefix)
  const [listKey] = Object.entries(form.fields).find(([, field]) => isNamed(field)) ?? []
  if (listKey !== undefined) {
    options[listKey] = [options[listKey] ?? [], `${name.slice(1)}=${decode(form, raw)}`].flat()
    return
  }
  const key = form.aliases[name.toLowerCase()] ?? name.toLowerCase()
  const field = Object.hasOwn(fields, key) && key !== 'schema' ? fields[key] : undefined
  if (field === undefined) return checkStray(form, key, raw)
  options[key] = field.type === 'list' ? raw.split(',').map((part) => decode(form, part)) : decode(form, raw)
}

/** Options without effect are read over, others are a mistake the owner should hear of. */
function checkStray (form: Form, key: string, raw: string): void {
  if (form.dropped.includes(key) || form.dropped.includes(`${key}=${raw}`)) return
  if (FILE_OPTION.test(key)) throw wrong(form, `would read a local file for '${key}'`, 'remove this option')
  if (key === 'verify' && /^(?:no|false|off|0)$/i.test(raw)) {
    throw wrong(form, "cannot be reached without checking its certificate, as 'verify' asks", 'remove this option or use plain http')
  }
  if (key === 'verify' || SERVER_OPTIONS.includes(key)) return
  throw wrong(form, `has no option '${key.slice(0, 64)}'`, 'remove it')
}

function decode (form: Form, raw: string): string {
  try {
    return decodeURIComponent(raw)
  } catch {
    throw wrong(form, 'has an address that is not percent-encoded right', 'write % as %25')
  }
}
