/** Returns the value below which a share of sorted values lies; NaN without any. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? NaN

/** Returns the value in the middle, the upper one of two; NaN without any. */
export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN
