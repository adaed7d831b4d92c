const ELLIPSIS = '…'
const ZERO_WIDTH_SPACE = '\u200b'

/** Makes one character harmless, so that text can be measured and cut before it is put together. */
export type Escape = (character: string) => string

export const plain: Escape = (character) => character

/** A backslash before these characters: what Markdown dialects have in common. */
export function backslash (characters: string): Escape {
  return (character) => characters.includes(character) ? `\\${character}` : character
}

/** An invisible space after these characters, where nothing can be escaped: marks of two characters are none then. */
export function invisible (characters: string): Escape {
  return (character) => characters.includes(character) ? `${character}${ZERO_WIDTH_SPACE}` : character
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const entities: Escape = (character) => ENTITIES[character] ?? character

/** At most `limit` code points, counted as they are sent; a longer text ends in an ellipsis. */
export function fit (text: string, limit: number, escape: Escape = plain): string {
  const pieces = Array.from(text, escape)
  const lengths = pieces.map((piece) => Array.from(piece).length)
  if (sum(lengths) <= limit) return pieces.join('')
  let used = ELLIPSIS.length
  const fitting = lengths.findIndex((length) => (used += length) > limit)
  return limit < 1 ? '' : `${pieces.slice(0, fitting).join('').trimEnd()}${ELLIPSIS}`
}

function sum (numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** An `@` that begins a word calls nobody: `@everyone`, `@here`, `<@123>`. Mail addresses stay as they are. */
export function defuse (text: string): string {
  return text.replace(/(^|[^\p{L}\p{N}._+-])@(?=\S)/gu, `$1@${ZERO_WIDTH_SPACE}`)
}

/** One line; control characters and runs of white space become one space. */
export function toLine (text: string): string {
  return text.toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** Line feeds stay, other control characters go. */
export function toLines (text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '').trim()
}
