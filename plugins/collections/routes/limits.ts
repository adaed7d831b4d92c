/** What follows from the whole library may have to be worked out anew, of each of many collections. */
export const LISTS_MAX_MS = 60_000
