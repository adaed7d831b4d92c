/** The codes of region preferences by LaunchBox's names, in lower case. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['asia', 'asi'], ['australia', 'au'], ['brazil', 'br'], ['canada', 'ca'], ['china', 'cn'], ['europe', 'eu'],
  ['finland', 'fi'], ['france', 'fr'], ['germany', 'de'], ['greece', 'gr'], ['holland', 'nl'], ['hong kong', 'hk'],
  ['italy', 'it'], ['japan', 'jp'], ['korea', 'kr'], ['north america', 'us'], ['norway', 'no'], ['russia', 'ru'],
  ['spain', 'sp'], ['sweden', 'se'], ['taiwan', 'tw'], ['the netherlands', 'nl'], ['united kingdom', 'uk'],
  ['united states', 'us'], ['world', 'wor']
])

/** The code of a region, such as `us` of `North America`; undefined for one that has none. */
export function regionCode (name = ''): string | undefined {
  return CODES.get(name.trim().toLowerCase())
}

/** How wanted a region is, 0 first. All are alike while the game's own regions are not known. */
export function createRegionRank (own: readonly string[], preferred: readonly string[]) {
  const wanted = own.length === 0 ? [] : [...own, ...preferred]
  return (region: string | undefined): number => {
    const place = wanted.indexOf(regionCode(region) ?? '')
    return place === -1 ? wanted.length : place
  }
}
