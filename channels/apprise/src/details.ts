import {
  isFields, readFields, readNumber, readText, toFieldsList, type Fields as Answer
} from '@svc/plugin-sdk/readers'
import { type Field, type Form, tokensOf } from './form.ts'
import { FILE_OPTION, SERVER_OPTIONS } from './url.ts'

// The response of GET /details: https://github.com/caronc/apprise-api#api-details and
// https://github.com/caronc/apprise/wiki/Development_Apprise_Details

/** Services that act on their own machine, and FCM, which reads a key file there. */
const DENIED = new Set(['syslog', 'dbus', 'qt', 'kde', 'glib', 'gnome', 'macosx', 'windows', 'blink1', 'fcm'])
const FILE_LABEL = /\b(?:path|file|keyfile)\b/i
const TYPES = ['int', 'float', 'bool', 'choice', 'list'] as const

/** Lists the services of an Apprise server, without denied and unreadable ones. */
export function readDetails (details: unknown): Form[] {
  return toFieldsList(isFields(details) ? details.schemas : undefined)
    .map(readService).filter((form) => form !== null)
}

function readService (entry: Answer): Form | null {
  const details = readFields(entry, 'details')
  const [plain, secure] = [readTexts(entry.protocols), readTexts(entry.secure_protocols)]
  const [id] = [...plain, ...secure]
  const name = readText(entry, 'service_name')
  if (details === undefined || id === undefined || name === undefined || entry.enabled === false) return null
  if ([...plain, ...secure].some((schema) => DENIED.has(schema))) return null
  const templates = readTexts(details.templates).map((template) => template.replace(/^\{schema\}:\/\//, ''))
  const tokens = new Set(templates.flatMap(tokensOf))
  const args = readFields(details, 'args') ?? {}
  return {
    id,
    name,
    setupUrl: readText(entry, 'setup_url') ?? null,
    plain,
    secure,
    templates,
    fields: { ...readTokens(details, tokens), ...readOptions(args, tokens), ...readKwargs(details) },
    aliases: readAliases(args),
    defaultOptions: [],
    urlFields: []
  }
}

function readTokens (details: Answer, tokenNames: ReadonlySet<string>): Record<string, Field> {
  const tokens = readFields(details, 'tokens') ?? {}
  return Object.fromEntries([...tokenNames].map((key) => [key, readField(readFields(tokens, key) ?? {}, key)]))
}

function readOptions (args: Answer, tokens: ReadonlySet<string>): Record<string, Field> {
  const options = Object.entries(args).filter((arg): arg is [string, Answer] => isFields(arg[1]))
    .filter(([key, arg]) => arg.alias_of === undefined && !tokens.has(key) && !SERVER_OPTIONS.includes(key))
    .filter(([key, arg]) => !FILE_OPTION.test(key) && !FILE_LABEL.test(readText(arg, 'name') ?? ''))
  return Object.fromEntries(options.map(([key, arg]) => [key, { ...readField(arg, key), required: false }]))
}

function readKwargs (details: Answer): Record<string, Field> {
  const kwargs = Object.entries(readFields(details, 'kwargs') ?? {}).filter((arg): arg is [string, Answer] => isFields(arg[1]))
  return Object.fromEntries(kwargs.map(([key, arg]) => [key, {
    label: readText(arg, 'name') ?? key, type: 'list', prefix: readText(arg, 'prefix') ?? '+', private: true, pattern: /^[^=]+=/
  }]))
}

function readAliases (args: Answer): Record<string, string> {
  return Object.fromEntries(Object.entries(args).flatMap(([key, arg]) => {
    const target = isFields(arg) ? readText(arg, 'alias_of') : undefined
    return target === undefined || target === key ? [] : [[key, target]]
  }))
}

function readField (field: Answer, key: string): Field {
  const [kind = ''] = (readText(field, 'type') ?? 'string').split(':')
  const type = TYPES.find((known) => known === kind) ?? 'string'
  const given = field.default
  const values = readValues(field.values)
  return {
    label: readText(field, 'name') ?? key,
    type,
    required: field.required === true,
    private: field.private === true,
    ...(typeof given === 'boolean' || typeof given === 'number' || typeof given === 'string'
      ? { default: type === 'choice' ? String(given) : given }
      : {}),
    ...(type === 'choice' && values.length > 0 ? { values } : {}),
    ...rangeOf(field)
  }
}

function rangeOf (field: Answer): Pick<Field, 'min' | 'max'> {
  const [min, max] = [readNumber(field, 'min'), readNumber(field, 'max')]
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
}

/** Reads choices from a list, or from an object of values and their meanings. */
function readValues (values: unknown): string[] {
  return isFields(values) ? Object.keys(values) : readTexts(values)
}

function readTexts (value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((entry) => typeof entry === 'string' || typeof entry === 'number').map(String)
}
