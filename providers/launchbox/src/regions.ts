import { regionCode } from '@svc/plugin-sdk'

/** A rank of regions; the most wanted has rank 0. */
export type RegionRank = (region: string | undefined) => number

/** Creates a rank in which the game's own regions precede the operator's preferred regions. */
export function createRegionRank (own: readonly string[], preferred: readonly string[]): RegionRank {
  const wanted = [...own, ...preferred]
  return (region) => {
    const place = wanted.indexOf(regionCode(region ?? '') ?? '')
    return place === -1 ? wanted.length : place
  }
}
