const ELLIPSIS = '…'
const ZERO_WIDTH_SPACE = '\u200b'

/** Escapes one character. Text is measured and cut by escaped characters before it is joined. */
export type EscapeCharacter = (character: string) => string

export const noEscape: EscapeCharacter = (character) => character

/** Puts a backslash before these characters, as all Markdown dialects allow. */
export function escapeByBackslash (characters: string): EscapeCharacter {
  return (character) => characters.includes(character) ? `\\${character}` : character
}

/** Puts an invisible space after these characters where no escape exists, which breaks marks of two characters. */
export function escapeBySpace (characters: string): EscapeCharacter {
  return (character) => characters.includes(character) ? `${character}${ZERO_WIDTH_SPACE}` : character
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const escapeEntities: EscapeCharacter = (character) => ENTITIES[character] ?? character

/** Cuts a text to `limit` code points, counted as sent; a longer text ends in an ellipsis. */
export function cutText (text: string, limit: number, escape: EscapeCharacter = noEscape): string {
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

/** Disarms every `@` that begins a word: `@everyone`, `@here`, `<@123>`. Mail addresses stay unchanged. */
export function disarmMentions (text: string): string {
  return text.replace(/(^|[^\p{L}\p{N}._+-])@(?=\S)/gu, `$1@${ZERO_WIDTH_SPACE}`)
}

/** Converts text to one line; control characters and runs of white space become one space. */
export function toLine (text: string): string {
  return text.toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** Removes control characters except line feeds. */
export function toLines (text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '').trim()
}
