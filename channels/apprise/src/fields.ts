import { InvalidSettingsError } from '@svc/plugin-sdk'
import { type Field, type Fields, type FieldValue, type Form, fieldsOf, tokensOf } from './form.ts'

const MAX_TEXT_LENGTH = 2000
const MAX_ENTRIES = 100
const SHOWN_TEMPLATES = 8
const YES = ['yes', 'y', 'true', 't', 'on', 'enable', 'enabled', 'allow', 'always', '1']
const NO = ['no', 'n', 'false', 'f', 'off', 'disable', 'disabled', 'deny', 'never', '0']

/**
 * Converts fields to the service's types: parses words, drops empty values, fills in the schema.
 *
 * @throws InvalidSettingsError that names the field and never shows its value.
 */
export function checkFields (form: Form, given: Readonly<Record<string, unknown>>): Fields {
  const known = fieldsOf(form)
  const stray = Object.keys(given).find((key) => !Object.hasOwn(known, key))
  if (stray !== undefined) throw invalidField(form, `has no field '${stray.slice(0, 64)}'`, `it has ${Object.keys(known).join(', ')}`)
  const checked: Record<string, FieldValue> = {}
  for (const [key, field] of Object.entries(known)) {
    const value = isEmpty(given[key]) ? null : checkValue(form, key, field, given[key])
    if (value !== null) checked[key] = value
    else if (field.required === true) throw invalidField(form, `needs '${key}' (${field.label})`, 'fill it in')
  }
  if (known.schema?.default !== undefined) checked.schema ??= known.schema.default
  pickTemplate(form, checked)
  return checked
}

/**
 * Returns the template with exactly the URL parts that are set.
 *
 * @throws InvalidSettingsError when there is none
 */
export function pickTemplate (form: Form, fields: Fields): string {
  const all = new Set(form.templates.flatMap(tokensOf))
  const set = [...all].filter((token) => fields[token] !== undefined)
  const fitting = form.templates.find((template) => {
    const tokens = tokensOf(template)
    return tokens.length === set.length && tokens.every((token) => set.includes(token))
  })
  if (fitting !== undefined) return fitting
  throw invalidField(form, `cannot be addressed by ${set.join(', ') || 'nothing'} alone`,
    `fill in all parts of one of these: ${form.templates.slice(0, SHOWN_TEMPLATES).join(' · ')}`)
}

export function invalidField ({ name }: Pick<Form, 'name'>, problem: string, remedy: string): InvalidSettingsError {
  return new InvalidSettingsError(`${name} ${problem}; ${remedy}`)
}

/** Parses a word for on or off; null for any other word. */
export function readSwitch (word: string): boolean | null {
  const lower = word.toLowerCase()
  return YES.includes(lower) ? true : NO.includes(lower) ? false : null
}

function isEmpty (value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

function checkValue (form: Form, key: string, field: Field, value: unknown): FieldValue {
  const result = convert(field, value)
  if (result === null) throw invalidField(form, `does not accept this '${key}' (${field.label})`, `give ${describeField(field)}`)
  return result
}

function convert (field: Field, value: unknown): FieldValue | null {
  if (field.type === 'bool') return typeof value === 'boolean' ? value : readSwitch(String(value))
  if (field.type === 'int' || field.type === 'float') return toNumber(field, value)
  if (field.type === 'list') return toList(field, value)
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !isFit(field, text)) return null
  return field.type === 'choice' ? toChoice(field, text) : text
}

function toNumber ({ type, min = -Infinity, max = Infinity }: Field, value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number) || number < min || number > max) return null
  return type === 'int' && !Number.isSafeInteger(number) ? null : number
}

function toList (field: Field, value: unknown): string[] | null {
  const given: unknown[] = Array.isArray(value) ? value : [value]
  const texts = given.filter((entry) => typeof entry === 'string')
  const entries = texts.map((entry) => entry.trim()).filter((entry) => entry !== '')
  const isGood = texts.length === given.length && entries.every((entry) => isFit(field, entry))
  return isGood && entries.length > 0 && entries.length <= MAX_ENTRIES ? entries : null
}

function toChoice ({ values = [], synonyms = {}, pattern }: Field, text: string): string | null {
  const lower = text.toLowerCase()
  const known = values.find((value) => value.toLowerCase() === lower) ?? synonyms[lower]
  return known ?? (pattern?.test(text) === true ? text : null)
}

/** True if a text is valid. Control characters would end a header or hide a part of the text. */
function isFit ({ pattern, type }: Field, text: string): boolean {
  const isClean = !/[\p{Cc}\p{Cs}]/u.test(text) && text.length <= MAX_TEXT_LENGTH && text.trim() !== ''
  return isClean && (type === 'choice' || pattern === undefined || pattern.test(text))
}

function describeField ({ type, values, min, max, pattern }: Field): string {
  if (values !== undefined) return `one of ${values.join(', ')}${pattern === undefined ? '' : `, or what fits ${pattern.source}`}`
  if (type === 'bool') return 'yes or no'
  const range = [min === undefined ? '' : ` from ${min}`, max === undefined ? '' : ` up to ${max}`].join('')
  if (type === 'int' || type === 'float') return `a number${range}`
  const shape = pattern === undefined ? 'without control characters' : `that fits ${pattern.source}`
  return type === 'list' ? `texts, each one ${shape}` : `a text ${shape}`
}
