/** Regions as file names call them, their codes in the owner's preferences, and other words for them in lower case. */
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
/** Codes of countries that stand for a language in some files, by the code of the language. */
const COUNTRY_LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['br', 'pt'], ['cn', 'zh'], ['jp', 'ja'], ['kr', 'ko'], ['sp', 'es'], ['us', 'en']
])

/** A name goes before the code and the words of another region: `nl` is of the first that has it. */
const BY_WORD = new Map(REGIONS.toReversed().flatMap(([name, code, ...words]) =>
  [name.toLowerCase(), code, ...words].map((word) => [word, { name, code }] as const)))

let languages: Intl.DisplayNames | undefined

const find = (text: string) => BY_WORD.get(text.trim().toLowerCase())

/** A region as file names call it: `regionName('us')` is `USA`. Undefined for what is no known region. */
export const regionName = (text: string): string | undefined => find(text)?.name

/** The code of a region in the owner's preferences: `regionCode('North America')` is `us`. */
export const regionCode = (text: string): string | undefined => find(text)?.code

/** The English name of a language: `languageName('fr')` is `French`. Undefined for what is no known code. */
export function languageName (text: string): string | undefined {
  const code = text.trim().toLowerCase()
  if (!/^[a-z]{2,3}$/.test(code)) return undefined
  languages ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  return languages.of(COUNTRY_LANGUAGES.get(code) ?? code)
}
