/**
 * The identifier IGDB gives the region of a localisation, by region code; undefined is the text IGDB shows
 * everywhere.
 */
const IDENTIFIERS: Readonly<Record<string, string | undefined>> = {
  us: undefined, wor: undefined, eu: 'EU', jp: 'ja-JP', kr: 'ko-KR', cn: 'zh-CN', tw: 'zh-TW'
}

/**
 * The identifier of the localisation to prefer, or undefined for none. A ROM's own regions decide alone; only a ROM
 * without any leaves it to the owner's preference.
 */
export function chooseRegion (romCodes: readonly string[], preferredCodes: readonly string[]): string | undefined {
  const codes = romCodes.length > 0 ? romCodes : preferredCodes
  const code = codes.find((code) => Object.hasOwn(IDENTIFIERS, code))
  return code === undefined ? undefined : IDENTIFIERS[code]
}
