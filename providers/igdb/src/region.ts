/**
 * The identifier IGDB gives the region of a localisation, by region code; undefined is the text IGDB shows
 * everywhere.
 */
const IDENTIFIERS: Readonly<Record<string, string | undefined>> = {
  us: undefined, wor: undefined, eu: 'EU', jp: 'ja-JP', kr: 'ko-KR', cn: 'zh-CN', tw: 'zh-TW'
}

/**
 * The identifier of the localisation to prefer, or undefined for none: of the first region that IGDB has texts for.
 *
 * @param codes the regions that the owner prefers; those of a ROM stand first among them where the owner wants that
 */
export function chooseRegion (codes: readonly string[]): string | undefined {
  const code = codes.find((code) => Object.hasOwn(IDENTIFIERS, code))
  return code === undefined ? undefined : IDENTIFIERS[code]
}
