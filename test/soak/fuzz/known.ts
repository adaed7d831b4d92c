import type { Known } from './values.ts'
import { isIdName, kindOf } from './values.ts'

type Id = string | number

/** How many of the newest of a kind are asked for again. */
const NEWEST = 12
const IDS_OF_KIND_MAX = 2_000
const DEPTH_MAX = 6
const ITEMS_MAX = 20

/** The ids in an answer, each with what it is the id of. */
export function decodeKnown (kind: string, value: unknown, depth = DEPTH_MAX): [kind: string, id: Id][] {
  if (depth === 0 || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).flatMap((one) => decodeKnown(kind, one, depth - 1))
  return Object.entries(value).flatMap(([key, one]): [string, Id][] => {
    const named = key === 'id' ? kind : kindOf(key)
    if (typeof one === 'object') return decodeKnown(named === '' ? kind : named, one, depth - 1)
    const isId = (isIdName(key) || /code|token/.test(key)) && (typeof one === 'string' || typeof one === 'number') && one !== ''
    return isId ? [[named, one]] : []
  })
}

/** The ids that answers gave, newest last. */
export class Ids {
  #byKind = new Map<string, Id[]>()

  add (template: string, text: string): void {
    const kind = kindOf(template.split('/').filter((part) => part !== '' && !part.startsWith('{')).at(-1) ?? '')
    for (const [one, id] of decodeKnown(kind, parse(text))) {
      const ids = this.#byKind.get(one) ?? []
      if (!ids.includes(id)) ids.push(id)
      this.#byKind.set(one, ids.slice(-IDS_OF_KIND_MAX))
    }
  }

  /** The id that one stands for now; any number where there is none of its kind yet. */
  look ({ kind, pick }: Known): Id {
    const ids = this.#byKind.get(kind) ?? []
    return ids[ids.length - 1 - pick % Math.min(ids.length, NEWEST)] ?? pick
  }
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // No JSON: nothing to learn from.
    return null
  }
}
