import type { FieldProblem } from '../../api/failure.ts'
import type { FormNode } from './node.ts'

/** The names and numbers that lead to a field of a form. */
export type FieldPath = readonly (string | number)[]

/** Messages about values that the page refuses before the server sees them. */
export interface ProblemTexts {
  required: string
  notNumber: string
  notJson: string
  tooSmall: (minimum: number) => string
  tooLarge: (maximum: number) => string
  tooShort: (length: number) => string
}

/** Returns the members of a value of a form; of others an empty object. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
export const itemsOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []

/** Returns the value that an empty form begins with. */
export function createValue (node: FormNode): unknown {
  if (node.initial !== undefined) return node.initial
  switch (node.kind) {
    case 'switch': return false
    case 'choices':
    case 'list':
    case 'texts': return []
    case 'map': return {}
    case 'object': return Object.fromEntries(node.fields.map(({ name, node: inner }) => [name, createValue(inner)]))
    default: return ''
  }
}

/** Numbers and JSON are texts while a person types them. Returns the value itself, or the text if it is not valid. */
function parse (node: FormNode, text: string): unknown {
  if (node.kind === 'number') {
    const number = Number(text.replace(',', '.'))
    return text.trim() === '' || Number.isNaN(number) ? text : number
  }
  if (node.kind !== 'json') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const mapMembers = (value: unknown, change: (inner: unknown) => unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(membersOf(value)).map(([name, inner]) => [name, change(inner)]))

/** Returns the value to send, without empty fields. An empty secret keeps the stored one, and null removes it. */
export function toPayload (node: FormNode, value: unknown): unknown {
  if (value === '') return undefined
  if (typeof value === 'string') return parse(node, value)
  if (node.kind === 'list') return itemsOf(value).map((item) => toPayload(node.item, item))
  if (node.kind === 'map') return mapMembers(value, (inner) => toPayload(node.item, inner) ?? '')
  if (node.kind !== 'object') return value
  const members = membersOf(value)
  const entries = node.fields.map(({ name, node: inner }) => [name, toPayload(inner, members[name])] as const)
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined))
}

/** True for a field that stands for nothing until a person fills it. */
const isScalar = ({ kind }: FormNode): boolean => ['text', 'number', 'choice', 'json'].includes(kind)

function findNumberProblem (node: Extract<FormNode, { kind: 'number' }>, value: unknown, texts: ProblemTexts): string | null {
  const number = typeof value === 'string' ? parse(node, value) : value
  if (typeof number !== 'number' || (node.isInteger && !Number.isInteger(number))) return texts.notNumber
  if (node.minimum !== undefined && number < node.minimum) return texts.tooSmall(node.minimum)
  return node.maximum !== undefined && number > node.maximum ? texts.tooLarge(node.maximum) : null
}

/** Returns the message about a scalar that is not empty; null for a right one. */
function findScalarProblem (node: FormNode, value: unknown, texts: ProblemTexts): string | null {
  if (node.kind === 'number') return findNumberProblem(node, value, texts)
  if (typeof value !== 'string') return null
  if (node.kind === 'text') return value.length < node.minLength ? texts.tooShort(node.minLength) : null
  return node.kind === 'json' && parse(node, value) === value ? texts.notJson : null
}

/** Finds wrong values. @param stored names of secrets that the server has, which may stay empty */
export function findProblems (
  node: FormNode, value: unknown, texts: ProblemTexts, stored: readonly string[] = []
): FieldProblem[] {
  /** Finds the problems of a value within this one, and leads to them from here. */
  const within = (inner: FormNode, name: string | number, one: unknown): FieldProblem[] =>
    findProblems(inner, one, texts).map(({ path, message }) => ({ path: [name, ...path], message }))

  if (node.kind === 'list') return itemsOf(value).flatMap((one, index) => within(node.item, index, one))
  if (node.kind === 'map') return Object.entries(membersOf(value)).flatMap(([name, one]) => within(node.item, name, one))
  if (node.kind === 'object') {
    const members = membersOf(value)
    return node.fields.flatMap(({ name, isRequired, node: inner }) => {
      const isMissing = isRequired && isScalar(inner) && isEmpty(members[name]) && !stored.includes(name)
      return isMissing ? [{ path: [name], message: texts.required }] : within(inner, name, members[name])
    })
  }
  const message = isEmpty(value) ? null : findScalarProblem(node, value, texts)
  return message === null ? [] : [{ path: [], message }]
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

/** Returns the way within the form. The server's paths begin with the part of the request, such as `body`. */
const toFieldPath = ({ path }: FieldProblem): FieldPath => path[0] === 'body' ? path.slice(1) : path

/** Returns the error of a field. */
export function problemAt (problems: readonly FieldProblem[], path: FieldPath): string | undefined {
  const wanted = JSON.stringify(path)
  return problems.find((problem) => wanted === JSON.stringify(toFieldPath(problem)))?.message
}

/** True if a problem belongs to a field of the form, which shows it. */
export const isWithin = (node: FormNode, problem: FieldProblem): boolean =>
  node.kind === 'object' && node.fields.some(({ name }) => name === toFieldPath(problem)[0])
