import type { Environment } from './environment.ts'

const PREFIX = 'SVC_'
/** One of four characters may be wrong. A variable of a plugin, such as SVC_APPRISE_API_URL, differs in more. */
const CHARACTERS_PER_EDIT = 4

/**
 * Returns how many characters to add, remove, replace or swap to turn one text into the other (optimal string
 * alignment).
 */
function countEdits (a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
      row.push(Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

/** True if a name is another one without its last words, as SVC_LIBRARY is SVC_LIBRARY_DIR. */
const isShortened = (name: string, known: string) => known.startsWith(`${name}_`)

function findNearest (name: string, known: readonly string[]): string | undefined {
  const editsMax = Math.max(2, Math.floor((name.length - PREFIX.length) / CHARACTERS_PER_EDIT))
  const [best] = known.map((candidate) => ({ candidate, edits: countEdits(name, candidate) }))
    .sort((a, b) => a.edits - b.edits)
  if (best !== undefined && best.edits <= editsMax) return best.candidate
  return known.find((candidate) => isShortened(name, candidate))
}

/** A variable with the server's prefix that is no setting, and the variable of a setting that it resembles. */
export interface MisspeltVariable { name: string, nearest: string }

export function findMisspeltVariables (environment: Environment, settings: readonly string[]): MisspeltVariable[] {
  const known = settings.filter((name) => name.startsWith(PREFIX))
  return Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.includes(name)).flatMap((name) => {
    const nearest = findNearest(name, known)
    return nearest === undefined ? [] : [{ name, nearest }]
  })
}
