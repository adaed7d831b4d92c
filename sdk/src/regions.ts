/** Regions by their name in file names, with their code in the operator's preferences and other words in lower case. */
const REGIONS: readonly (readonly [name: string, code: string, ...words: string[]])[] = [
  ['Asia', 'asi', 'as'],
  ['Australia', 'au', 'aus'],
  ['Brazil', 'br', 'bra'],
  ['Canada', 'ca', 'can'],
  ['China', 'cn', 'chn'],
  ['England', 'uk', 'gb', 'gbr', 'united kingdom', 'great britain'],
  ['Europe', 'eu', 'eur'],
  ['Finland', 'fi', 'fin'],
  ['France', 'fr', 'fra'],
  ['Germany', 'de', 'ger'],
  ['Greece', 'gr', 'gre'],
  ['Hong Kong', 'hk'],
  ['Italy', 'it', 'ita'],
  ['Japan', 'jp', 'jpn'],
  ['Korea', 'kr', 'kor', 'south korea'],
  ['Netherlands', 'nl', 'ned', 'the netherlands'],
  ['Holland', 'nl'],
  ['Norway', 'no', 'nor'],
  ['Russia', 'ru', 'rus'],
  ['Spain', 'sp', 'es', 'spa'],
  ['Sweden', 'se', 'swe'],
  ['Taiwan', 'tw', 'twn'],
  ['USA', 'us', 'united states', 'north america'],
  ['World', 'wor', 'wr', 'wd', 'worldwide']
]
/** Country codes that stand for a language in some files, with the code of that language. */
const COUNTRY_LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['br', 'pt'], ['cn', 'zh'], ['jp', 'ja'], ['kr', 'ko'], ['sp', 'es'], ['us', 'en']
])

/** Regions by word. The first region with a word wins, and a region's name wins over codes and words: see `nl`. */
const BY_WORD = new Map(REGIONS.toReversed().flatMap(([name, code, ...words]) =>
  [name.toLowerCase(), code, ...words].map((word) => [word, { name, code }] as const)))

let languages: Intl.DisplayNames | undefined

const find = (text: string) => BY_WORD.get(text.trim().toLowerCase())

/** Returns a region's name in file names: `regionName('us')` is `USA`. Undefined for an unknown region. */
export const regionName = (text: string): string | undefined => find(text)?.name

/** Returns the code of a region in the operator's preferences: `regionCode('North America')` is `us`. */
export const regionCode = (text: string): string | undefined => find(text)?.code

/** Returns the English name of a language: `languageName('fr')` is `French`. Undefined for an unknown code. */
export function languageName (text: string): string | undefined {
  const code = text.trim().toLowerCase()
  if (!/^[a-z]{2,3}$/.test(code)) return undefined
  languages ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  return languages.of(COUNTRY_LANGUAGES.get(code) ?? code)
}
