/** Time in which the deletions of one device count as one burst. */
export const BURST_SECONDS = 300
const DELETIONS_MAX = 10
/** A few deletions that are half of all files are a burst too, because a device may have few files. */
const DELETIONS_MIN = 3

/** True if so many deletions of one device more likely mean that it lost its files than that its user deleted them. */
export const isBurst = (deletions: number, files: number): boolean =>
  deletions > DELETIONS_MAX || (deletions >= DELETIONS_MIN && deletions * 2 > files)
