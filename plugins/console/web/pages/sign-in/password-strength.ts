/** How hard a password is to guess: 0 is refused by the server, 4 is very strong. */
export type Strength = 0 | 1 | 2 | 3 | 4

/** The server refuses shorter passwords. */
export const PASSWORD_MIN = 8
const CLASSES: readonly (readonly [RegExp, number])[] = [[/[a-z]/, 26], [/[A-Z]/, 26], [/\d/, 10], [/[^A-Za-z\d]/, 33]]
/** Bits of guesses from which on each grade begins. */
const GRADES = [36, 52, 80] as const

/** Counts characters that add something: a repeated one, or the next of a row such as `abc` or `321`, does not. */
function countSurprising (characters: readonly string[]): number {
  return characters.filter((character, index) => {
    const former = characters[index - 1]
    if (former === undefined) return true
    return Math.abs((character.codePointAt(0) ?? 0) - (former.codePointAt(0) ?? 0)) > 1
  }).length
}

/** Estimates the strength of a password. It only guides; the server decides and also knows common passwords. */
export function strengthOf (password: string, username = ''): Strength {
  const characters = [...password]
  if (characters.length < PASSWORD_MIN) return 0
  const alphabet = CLASSES.reduce((sum, [pattern, size]) => pattern.test(password) ? sum + size : sum, 0)
  const isNamed = username !== '' && password.toLowerCase().includes(username.toLowerCase())
  const counted = countSurprising(characters) - (isNamed ? [...username].length : 0)
  const bits = Math.max(0, counted) * Math.log2(Math.max(2, alphabet))
  return (1 + GRADES.filter((grade) => bits >= grade).length) as Strength
}
