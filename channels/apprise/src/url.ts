import { checkFields, pickTemplate, readSwitch, wrong } from './fields.ts'
import { type Field, type Fields, type FieldValue, type Form, type RawUrl, fieldsOf, isToken, tokensOf } from './form.ts'
import { toLine } from './text.ts'

/** Options every service of Apprise has that are the server's to set: they are never offered. */
export const SERVER_OPTIONS = ['rto', 'cto', 'redirect', 'retry', 'wait', 'overflow', 'format', 'emojis', 'store', 'tz', 'optional']
/** Those of their values that say what the server does anyway. */
const SETTLED = ['verify=yes', 'redirect=no', 'overflow=truncate', 'format=text', 'emojis=no']
/** Options whose value is a path on the machine that sends. */
export const FILE_OPTION = /^(?:template|attach(?:ment)?|keyfile|subfile|pem|pgp_?key|cert(?:ificate|file)?)$/
const SHOWN_KEY_LENGTH = 64

/** Parts of an address that are paths themselves. */
const PATH_TOKENS = new Set(['path', 'fullpath'])

/** What an address says: the fields, and in words what of it is left out. */
export interface ReadUrl { readonly fields: Fields, readonly warnings: readonly string[] }

type Options = Readonly<Record<string, string | string[]>>
interface ReadQuery { readonly options: Options, readonly warnings: readonly string[] }

/** The parts of `schema://rest?query`, or null when it is no such text. `#` is no mark here: channels are named by it. */
export function splitUrl (text: string): RawUrl | null {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^?\s]*)(?:\?(\S*))?$/i.exec(text)
  if (match === null) return null
  const [, schema = '', rest = '', query = ''] = match
  return { schema: schema.toLowerCase(), rest, query }
}

/** What stands before the `@` of an address, and what after it. */
export function splitLogin (rest: string): [login: string, address: string] {
  const [authority = ''] = rest.split('/', 1)
  const at = authority.lastIndexOf('@')
  return at === -1 ? ['', rest] : [rest.slice(0, at), rest.slice(at + 1)]
}

/** The value of an option, decoded; null when it is not there. */
export function optionOf ({ query }: RawUrl, name: string): string | null {
  const pair = pairsOf(query).find(([key]) => key.toLowerCase() === name)
  return pair === undefined ? null : decode(pair[1])
}

/** The query without some options. */
export function withoutOptions ({ query }: Pick<RawUrl, 'query'>, names: readonly string[]): string {
  return query.split('&').filter((part) => !names.includes(decode(part.split('=', 1)[0] ?? '').toLowerCase())).join('&')
}

/** The fields in an address of this service. @throws InvalidSettingsError when a part is missing or wrong */
export function readUrl (form: Form, given: RawUrl): ReadUrl {
  const raw = form.rewrite?.(given) ?? given
  const { options, warnings } = readQuery(form, raw)
  const bound = bindTemplate(form, raw.rest, Object.keys(options))
  const chosen = fieldsOf(form).schema === undefined ? {} : { schema: raw.schema }
  return { fields: checkFields(form, { ...combine(bound, options), ...chosen }), warnings }
}

/** Fields that came otherwise, with the options of a query. @throws InvalidSettingsError as readUrl does */
export function addOptions (form: Form, fields: Readonly<Record<string, unknown>>, raw: RawUrl): ReadUrl {
  const { options, warnings } = readQuery(form, raw)
  return { fields: checkFields(form, combine(fields, options)), warnings }
}

/** Options win, and lists grow. */
function combine (fields: Readonly<Record<string, unknown>>, options: Options): Record<string, unknown> {
  const lists = Object.entries(options).filter(([key, value]) => Array.isArray(value) && Array.isArray(fields[key]))
    .map(([key, value]): [string, unknown] => [key, [fields[key], value].flat()])
  return { ...fields, ...options, ...Object.fromEntries(lists) }
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
  const templates = new Set(form.templates.flatMap((template) => [template, withoutGiven(template, given)]))
  const byLength = [...templates].sort((a, b) => tokensOf(b).length - tokensOf(a).length)
  const candidates = byLength.map((template) => matchTemplate(form, template, rest)).filter((bound) => bound !== null)
  const good = candidates.find((bound) => Object.entries(bound).every(([key, value]) => isGood(form, key, value)))
  const bound = good ?? candidates[0]
  if (bound !== undefined) return bound
  throw wrong(form, 'has no address of this form', `it is one of ${form.templates.slice(0, 8).map((template) => `${form.id}://${template}`).join(' · ')}`)
}

/** Without the parts that the query gives: `tgram://token?to=chat`, `json://host?user=ada&pass=secret`. */
function withoutGiven (template: string, given: readonly string[]): string {
  const left = (token: string | undefined) => token === undefined || given.includes(token) ? '' : `{${token}}`
  const address = template.replace(/^(?:\{(\w+)\})?(?::\{(\w+)\})?@/, (_, user?: string, password?: string) => {
    const login = [left(user), left(password)].filter((part) => part !== '')
    return login.length === 0 ? '' : `${left(password) === '' ? login[0] : `${left(user)}:${left(password)}`}@`
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
  // The slash at its end belongs to a path.
  const address = PATH_TOKENS.has(tokens.at(-1) ?? '') ? rest : rest.replace(/\/+$/, '')
  const match = toPattern(form, template).exec(address)
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
    const isTaken = readOption(form, name, raw, options)
    if (!isTaken && !isSettled(form, schema, name.toLowerCase(), decode(raw))) {
      warnings.push(`${form.name} has no option '${toLine(name).slice(0, SHOWN_KEY_LENGTH)}' here; it was left out`)
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

/** Whether an option asks for what is done anyway. @throws InvalidSettingsError for what must not be thought done */
function isSettled (form: Form, schema: string, key: string, value: string): boolean {
  const isRemote = /^https?:\/\//i.test(value)
  if (FILE_OPTION.test(key) && !isRemote) throw wrong(form, `would read a local file for '${key}'`, 'remove this option')
  const isOn = readSwitch(value)
  // There is no certificate to check.
  if (key === 'verify' && form.plain.includes(schema)) return true
  if (key === 'verify' && isOn === false) {
    throw wrong(form, "cannot be reached without checking its certificate, as 'verify' asks", 'remove this option or use plain http')
  }
  const word = isOn === null ? value.toLowerCase() : isOn ? 'yes' : 'no'
  return value === '' || [...SETTLED, ...form.settled].includes(`${key}=${word}`)
}

/** What is no percent-encoding stands for itself. */
function decode (raw: string): string {
  return raw.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
