/** The identifier IGDB gives the region of a localisation, by region code; null is the text IGDB shows everywhere. */
const IDENTIFIERS: Readonly<Record<string, string | null>> = {
  us: null, wor: null, eu: 'EU', jp: 'ja-JP', kr: 'ko-KR', cn: 'zh-CN', tw: 'zh-TW'
}

/**
 * The identifier of the localisation to prefer, or null for none. A ROM's own regions decide alone; only a ROM without
 * any leaves it to the owner's preference.
 */
export function chooseRegion (romCodes: readonly string[], preferredCodes: readonly string[]): string | null {
  const codes = romCodes.length > 0 ? romCodes : preferredCodes
  const code = codes.find((code) => Object.hasOwn(IDENTIFIERS, code))
  return code === undefined ? null : IDENTIFIERS[code] ?? null
}
