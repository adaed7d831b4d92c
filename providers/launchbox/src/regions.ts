import { regionCode } from '@svc/plugin-sdk'

/** A rank of regions; the most wanted has rank 0. */
export type RegionRank = (region: string | undefined) => number

/** Creates a rank in which the game's own regions precede the operator's preferred regions. */
export function createRegionRank (gameRegions: readonly string[], preferred: readonly string[]): RegionRank {
  const regions = [...gameRegions, ...preferred]
  return (region) => {
    const position = regions.indexOf(regionCode(region ?? '') ?? '')
    return position === -1 ? regions.length : position
  }
}
