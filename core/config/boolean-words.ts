const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true], ['1', true], ['yes', true], ['on', true],
  ['false', false], ['0', false], ['no', false], ['off', false]
])

/** Returns the boolean that a word means, in any case; undefined for every other text. */
export const readBoolean = (text: string): boolean | undefined => WORDS.get(text.toLowerCase())
