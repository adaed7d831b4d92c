const PAGE_BYTES = 2 ** 13

/** A set of ids: by their first 16 bits, one bit for each of the last ones. Never changes once it was returned. */
export type IdSet = readonly (Uint8Array | undefined)[]

/** A loop by index, because an iterator takes ten times as long. */
export function toIdSet (ids: ArrayLike<number>): IdSet {
  const pages: (Uint8Array | undefined)[] = []
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index] ?? 0
    const page = pages[id >>> 16] ??= new Uint8Array(PAGE_BYTES)
    const at = (id & 0xffff) >>> 3
    page[at] = (page[at] ?? 0) | 1 << (id & 7)
  }
  return pages
}

/** Returns 1 if a set has an id, else 0. */
export const bitOf = (set: IdSet, id: number): number => (set[id >>> 16]?.[(id & 0xffff) >>> 3] ?? 0) >>> (id & 7) & 1

/** Returns the ids that one of two sets has. */
export const unite = (one: IdSet, other: IdSet): IdSet =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, index) => {
    const [page, more] = [one[index], other[index]]
    return page === undefined || more === undefined ? page ?? more : page.map((byte, at) => byte | (more[at] ?? 0))
  })

/** Returns the ids that both sets have. */
export const intersect = (one: IdSet, other: IdSet): IdSet => one.map((page, index) => {
  const more = other[index]
  return more === undefined ? undefined : page?.map((byte, at) => byte & (more[at] ?? 0))
})

/** Returns a set without some ids, and with those of them that it is to have. */
export function replace (set: IdSet, changed: Iterable<number>, wanted: { has (id: number): boolean }): IdSet {
  const pages = [...set]
  for (const id of changed) {
    const index = id >>> 16
    const page = pages[index] === undefined || pages[index] === set[index]
      ? pages[index] = Uint8Array.from(set[index] ?? new Uint8Array(PAGE_BYTES))
      : pages[index]
    const [at, bit] = [(id & 0xffff) >>> 3, 1 << (id & 7)]
    page[at] = wanted.has(id) ? (page[at] ?? 0) | bit : (page[at] ?? 0) & ~bit
  }
  return pages
}

/** Returns the ids of a set in ascending order; null if there are more than a number of them. */
export function listIds (set: IdSet, max: number): Int32Array | null {
  const ids: number[] = []
  for (const [index, page] of set.entries()) {
    for (const [at, byte] of page?.entries() ?? []) {
      if (byte === 0) continue
      for (let bit = 0; bit < 8; bit++) if ((byte & 1 << bit) !== 0) ids.push(index * 2 ** 16 + at * 8 + bit)
      if (ids.length > max) return null
    }
  }
  return Int32Array.from(ids)
}

/** Returns the memory of a set in bytes. */
export const bytesOf = (set: IdSet): number => set.reduce((bytes, page) => bytes + (page?.byteLength ?? 8), 0)
