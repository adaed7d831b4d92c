import type { Known } from './values.ts'
import { isIdName, kindOf } from './values.ts'

type Id = string | number

/** Number of newest ids of a kind that are requested again. */
const NEWEST = 12
const IDS_OF_KIND_MAX = 2_000
const DEPTH_MAX = 6
const ITEMS_MAX = 20

/** Returns the ids in a response, each with its kind. */
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

/** Ids from responses, newest last. */
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

  /** Returns an id for a placeholder; any number if there is no id of its kind yet. */
  look ({ kind, pick }: Known): Id {
    const ids = this.#byKind.get(kind) ?? []
    return ids[ids.length - 1 - pick % Math.min(ids.length, NEWEST)] ?? pick
  }
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The text is not JSON, so it contains no ids.
    return null
  }
}
