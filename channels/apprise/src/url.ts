import { checkFields, pickTemplate, readSwitch, invalidField } from './fields.ts'
import { type Field, type Fields, type FieldValue, type Form, type RawUrl, fieldsOf, isToken, tokensOf } from './form.ts'
import { toLine } from './text.ts'

/** Options of every Apprise service that only the server sets; they are never offered. */
export const SERVER_OPTIONS = ['rto', 'cto', 'redirect', 'retry', 'wait', 'overflow', 'format', 'emojis', 'store', 'tz', 'optional']
/** Values of these options that ask for the default behaviour. */
const DEFAULT_OPTIONS = ['verify=yes', 'redirect=no', 'overflow=truncate', 'format=text', 'emojis=no']
/** Options whose value is a path on the sending machine. */
export const FILE_OPTION = /^(?:template|attach(?:ment)?|keyfile|subfile|pem|pgp_?key|cert(?:ificate|file)?)$/
const SHOWN_KEY_LENGTH = 64

/** URL parts that are paths themselves. */
const PATH_TOKENS = new Set(['path', 'fullpath'])

/** The fields in a URL, with warnings about the parts that were skipped. */
export interface ReadUrl { readonly fields: Fields, readonly warnings: readonly string[] }

type Options = Readonly<Record<string, string | string[]>>
interface ReadQuery { readonly options: Options, readonly warnings: readonly string[] }

/** Splits `schema://rest?query`; null for any other text. `#` is no separator here, because it marks channels. */
export function splitUrl (text: string): RawUrl | null {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^?\s]*)(?:\?(\S*))?$/i.exec(text)
  if (match === null) return null
  const [, schema = '', rest = '', query = ''] = match
  return { schema: schema.toLowerCase(), rest, query }
}

/** Splits at the `@` of the authority into login and address. */
export function splitLogin (rest: string): [login: string, address: string] {
  const [authority = ''] = rest.split('/', 1)
  const at = authority.lastIndexOf('@')
  return at === -1 ? ['', rest] : [rest.slice(0, at), rest.slice(at + 1)]
}

/** Returns the decoded value of an option; null when it is not set. */
export function optionOf ({ query }: RawUrl, name: string): string | null {
  const pair = pairsOf(query).find(([key]) => key.toLowerCase() === name)
  return pair === undefined ? null : decode(pair[1])
}

/** Returns the query without some options. */
export function withoutOptions ({ query }: Pick<RawUrl, 'query'>, names: readonly string[]): string {
  return query.split('&').filter((part) => !names.includes(decode(part.split('=', 1)[0] ?? '').toLowerCase())).join('&')
}

/**
 * Reads the fields from a URL of this service.
 *
 * @throws InvalidSettingsError when a part is missing or wrong
 */
export function readUrl (form: Form, given: RawUrl): ReadUrl {
  const raw = form.rewrite?.(given) ?? given
  const { options, warnings } = readQuery(form, raw)
  const bound = bindTemplate(form, raw.rest, Object.keys(options))
  const chosen = fieldsOf(form).schema === undefined ? {} : { schema: raw.schema }
  return { fields: checkFields(form, { ...combine(bound, options), ...chosen }), warnings }
}

/**
 * Adds the options of a query to fields from elsewhere.
 *
 * @throws InvalidSettingsError like readUrl
 */
export function addOptions (form: Form, fields: Readonly<Record<string, unknown>>, raw: RawUrl): ReadUrl {
  const { options, warnings } = readQuery(form, raw)
  return { fields: checkFields(form, combine(fields, options)), warnings }
}

/** Merges fields and options: options win, and lists are joined. */
function combine (fields: Readonly<Record<string, unknown>>, options: Options): Record<string, unknown> {
  const lists = Object.entries(options).filter(([key, value]) => Array.isArray(value) && Array.isArray(fields[key]))
    .map(([key, value]): [string, unknown] => [key, [fields[key], value].flat()])
  return { ...fields, ...options, ...Object.fromEntries(lists) }
}

/**
 * Writes the URL with all fields that are set and differ from their default.
 *
 * @throws InvalidSettingsError
 */
export function writeUrl (form: Form, fields: Fields): string {
  const schema = typeof fields.schema === 'string' ? fields.schema : form.id
  const address = pickTemplate(form, fields).replace(/\{(\w+)\}/g, (_, token: string) => writeToken(token, fields[token]))
  const query = Object.entries(form.fields).filter(([key, field]) =>
    !isToken(form, key) && fields[key] !== undefined && fields[key] !== field.default)
    .flatMap(([key, field]) => writeOption(key, field, fields[key] ?? ''))
  return `${schema}://${address}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Binds the longest template that matches with valid values. */
function bindTemplate (form: Form, rest: string, given: readonly string[]): Record<string, FieldValue> {
  const templates = new Set(form.templates.flatMap((template) => [template, withoutGiven(template, given)]))
  const byLength = [...templates].sort((a, b) => tokensOf(b).length - tokensOf(a).length)
  const candidates = byLength.map((template) => matchTemplate(form, template, rest)).filter((bound) => bound !== null)
  const valid = candidates.find((bound) => Object.entries(bound).every(([key, value]) => isGood(form, key, value)))
  const bound = valid ?? candidates[0]
  if (bound !== undefined) return bound
  throw invalidField(form, 'has no address of this form', `it is one of ${form.templates.slice(0, 8).map((template) => `${form.id}://${template}`).join(' · ')}`)
}

/** Removes the parts that the query sets: `tgram://token?to=chat`, `json://host?user=ada&pass=secret`. */
function withoutGiven (template: string, given: readonly string[]): string {
  const missingToken = (token: string | undefined) => token === undefined || given.includes(token) ? '' : `{${token}}`
  const address = template.replace(/^(?:\{(\w+)\})?(?::\{(\w+)\})?@/, (_, user?: string, password?: string) => {
    const login = [missingToken(user), missingToken(password)].filter((part) => part !== '')
    return login.length === 0 ? '' : `${missingToken(password) === '' ? login[0] : `${missingToken(user)}:${missingToken(password)}`}@`
  })
  return withoutEnd(address, given)
}

function withoutEnd (template: string, given: readonly string[]): string {
  const [, start = '', last] = /^(?:(.+)\/)?\{(\w+)\}$/.exec(template) ?? []
  return last !== undefined && given.includes(last) ? withoutEnd(start, given) : template
}

function isGood ({ fields }: Form, key: string, value: FieldValue): boolean {
  const { pattern } = fields[key] ?? {}
  return pattern === undefined || [value].flat().every((text) => typeof text === 'string' && pattern.test(text))
}

function matchTemplate (form: Form, template: string, rest: string): Record<string, FieldValue> | null {
  const tokens = tokensOf(template)
  // A final slash is part of a path.
  const address = PATH_TOKENS.has(tokens.at(-1) ?? '') ? rest : rest.replace(/\/+$/, '')
  const match = toPattern(form, template).exec(address)
  if (match === null) return null
  return Object.fromEntries(tokens.map((token, index) => [token, readToken(form, token, match[index + 1] ?? '')]))
}

/** Builds a pattern with one part between `@`, `:` and `/`. A list matches the rest of the path. */
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
  const field = form.fields[token]
  if (field?.type !== 'list') return decode(raw)
  return raw.split('/').flatMap((part) => splitEntries(field, part)).filter((part) => part !== '')
}

function splitEntries ({ commas }: Field, raw: string): string[] {
  return (commas === true ? [raw] : raw.split(',')).map(decode)
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

function pairsOf (query: string): [name: string, raw: string][] {
  return query.split('&').filter((part) => part !== '').map((pair) => {
    const at = pair.indexOf('=')
    return at === -1 ? [decode(pair), ''] : [decode(pair.slice(0, at)), pair.slice(at + 1)]
  })
}

function readQuery (form: Form, { schema, query }: RawUrl): ReadQuery {
  const options: Record<string, string | string[]> = {}
  const warnings: string[] = []
  for (const [name, raw] of pairsOf(query)) {
    const isRead = readOption(form, name, raw, options)
    if (!isRead && !isSettled(form, schema, name.toLowerCase(), decode(raw))) {
      warnings.push(`${form.name} has no option '${toLine(name).slice(0, SHOWN_KEY_LENGTH)}' here; the option was skipped`)
    }
  }
  return { options, warnings }
}

function readOption (form: Form, name: string, raw: string, options: Record<string, string | string[]>): boolean {
  const fields = fieldsOf(form)
  const isNamed = ({ prefix }: Field) => prefix !== undefined && name.startsWith(prefix)
  const [listKey] = Object.entries(form.fields).find(([, field]) => isNamed(field)) ?? []
  if (listKey !== undefined) {
    options[listKey] = [options[listKey] ?? [], `${name.slice(1)}=${decode(raw)}`].flat()
    return true
  }
  const key = form.aliases[name.toLowerCase()] ?? name.toLowerCase()
  const field = Object.hasOwn(fields, key) && key !== 'schema' ? fields[key] : undefined
  if (field === undefined) return false
  options[key] = field.type === 'list' ? [options[key] ?? [], splitEntries(field, raw)].flat() : decode(raw)
  return true
}

/**
 * True if an option asks for the default behaviour.
 *
 * @throws InvalidSettingsError for an option that must not be silently ignored
 */
function isSettled (form: Form, schema: string, key: string, value: string): boolean {
  const isRemote = /^https?:\/\//i.test(value)
  if (FILE_OPTION.test(key) && !isRemote) throw invalidField(form, `would read a local file for '${key}'`, 'remove this option')
  const isOn = readSwitch(value)
  // Plain http has no certificate to check.
  if (key === 'verify' && form.plain.includes(schema)) return true
  if (key === 'verify' && isOn === false) {
    throw invalidField(form, "cannot be reached without checking its certificate, as 'verify' asks", 'remove this option or use plain http')
  }
  const word = isOn === null ? value.toLowerCase() : isOn ? 'yes' : 'no'
  return value === '' || [...DEFAULT_OPTIONS, ...form.defaultOptions].includes(`${key}=${word}`)
}

/** Decodes percent-encoding; any other text stays unchanged. */
function decode (raw: string): string {
  return raw.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
