/** A mark in place of a logo: the first letters or digits of a name, and a hue of its own. */
export interface Mark { readonly letters: string, readonly hue: number }

const LETTERS_MAX = 4

function lettersOf (name: string): string {
  // "PlayStation" is two words that are written as one.
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '')
  // The last word tells most systems of one maker apart, such as "PlayStation 2".
  const number = words.at(-1)?.match(/^\d{1,4}$/)?.[0] ?? ''
  const initials = words.filter((word) => !/^\d+$/.test(word)).map((word) => [...word][0]?.toUpperCase() ?? '').join('')
  if (number !== '') return `${initials.slice(0, Math.max(1, LETTERS_MAX - number.length))}${number}`
  if (initials.length > 1) return initials.slice(0, LETTERS_MAX)
  const letters = [...name.trim()]
  return letters.slice(0, letters.length <= LETTERS_MAX ? LETTERS_MAX : 2).join('').toUpperCase()
}

/** Returns the mark of a platform, which is the same each time. */
export function markOf (slug: string, name: string): Mark {
  let hash = 0
  for (const unit of slug) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x9E3779B1) >>> 0
  return { letters: lettersOf(name), hue: hash % 360 }
}
