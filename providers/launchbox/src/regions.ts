import { regionCode } from '@svc/plugin-sdk'

/** How wanted a region is, 0 first. */
export type RegionRank = (region: string | undefined) => number

/** The game's own regions go before those that the owner prefers. */
export function createRegionRank (own: readonly string[], preferred: readonly string[]): RegionRank {
  const wanted = [...own, ...preferred]
  return (region) => {
    const place = wanted.indexOf(regionCode(region ?? '') ?? '')
    return place === -1 ? wanted.length : place
  }
}
