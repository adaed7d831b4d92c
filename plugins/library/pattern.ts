/** True if the whole name matches. */
export type Pattern = (name: string) => boolean

type Step = '*' | ((character: string) => boolean)

/**
 * Compiles a shell pattern for one name: `*` any characters, `?` one, `[abc]`, `[a-z]`, `[!a]` one of or not of a set.
 * All other characters are literal, even a dot, brace or backslash, and a `[` without `]` too. The time is at most the
 * length of the pattern times the length of the name.
 * See https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_14
 */
export function compilePattern (pattern: string): Pattern {
  const [ending, beginning] = [pattern.slice(1), pattern.slice(0, -1)]
  // Fast paths, because most patterns are of these kinds and every name of a library is tested with every pattern.
  if (pattern.startsWith('*') && !/[*?[]/.test(ending)) return (name) => name.endsWith(ending)
  if (pattern.endsWith('*') && !/[*?[]/.test(beginning)) return (name) => name.startsWith(beginning)
  const steps = parseSteps([...pattern])
  return (name) => matchSteps(steps, [...name])
}

function parseSteps (pattern: string[]): Step[] {
  const steps: Step[] = []
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] ?? ''
    const setEnd = character === '[' ? findSetEnd(pattern, i) : -1
    if (character === '*') steps.push('*')
    else if (character === '?') steps.push(() => true)
    else if (setEnd === -1) steps.push((other) => other === character)
    else {
      steps.push(parseSet(pattern.slice(i + 1, setEnd)))
      i = setEnd
    }
  }
  return steps
}

/** Returns the end of a set. A `]` in first position belongs to the set. */
function findSetEnd (pattern: string[], open: number): number {
  const first = pattern[open + 1] === '!' ? open + 2 : open + 1
  return pattern.indexOf(']', first + 1)
}

function parseSet (content: string[]): Step {
  const isNegated = content[0] === '!'
  const members = isNegated ? content.slice(1) : content
  const ranges: [from: string, to: string][] = []
  for (let i = 0; i < members.length; i++) {
    const from = members[i] ?? ''
    const to = members[i + 1] === '-' ? members[i + 2] : undefined
    ranges.push([from, to ?? from])
    if (to !== undefined) i += 2
  }
  return (character) => ranges.some(([from, to]) => isBetween(character, from, to)) !== isNegated
}

function isBetween (character: string, from: string, to: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return code >= (from.codePointAt(0) ?? 0) && code <= (to.codePointAt(0) ?? 0)
}

/** Backtracks only to the last `*`, because an earlier `*` with its shortest match never needs another one. */
function matchSteps (steps: Step[], name: string[]): boolean {
  let step = 0
  let at = 0
  let star = -1
  let starAt = 0
  while (at < name.length) {
    const current = steps[step]
    if (current === '*') {
      star = step++
      starAt = at
    } else if (current?.(name[at] ?? '') === true) {
      step++
      at++
    } else if (star === -1) {
      return false
    } else {
      step = star + 1
      at = ++starAt
    }
  }
  return steps.slice(step).every((rest) => rest === '*')
}
