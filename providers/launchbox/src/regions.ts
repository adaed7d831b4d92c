import codes from '../data/regions.json' with { type: 'json' }

/** The codes of region preferences by LaunchBox's names, in lower case. */
const CODES: ReadonlyMap<string, string> = new Map(Object.entries(codes))

/** The code of a region, such as `us` of `North America`; undefined for one that has none. */
export const regionCode = (name = ''): string | undefined => CODES.get(name.trim().toLowerCase())

/** How wanted a region is, 0 first. */
export type RegionRank = (region: string | undefined) => number

/** All regions are alike while the game's own are not known. */
export function createRegionRank (own: readonly string[], preferred: readonly string[]): RegionRank {
  const wanted = own.length === 0 ? [] : [...own, ...preferred]
  return (region) => {
    const place = wanted.indexOf(regionCode(region) ?? '')
    return place === -1 ? wanted.length : place
  }
}
