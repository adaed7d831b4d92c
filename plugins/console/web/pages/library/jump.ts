/** A place in a long list that the jump bar offers. */
export interface Jump {
  readonly label: string
  /** Its index, if that is known without a request. */
  readonly at?: number
  readonly find: () => Promise<number> | number
}

/** Returns the first index for which a question is true, which stays true from there on; the count if there is none. */
export async function findFirst (count: number, ask: (index: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await ask(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Lists years from one to another, at most so many of them, in the direction of the list. */
export function listYears (first: number, last: number, most: number): number[] {
  const [low, high] = [Math.min(first, last), Math.max(first, last)]
  const step = [1, 2, 5, 10, 20, 50].find((size) => Math.floor(high / size) - Math.ceil(low / size) < most) ?? 100
  const years: number[] = [low]
  for (let year = Math.ceil((low + 1) / step) * step; year <= high; year += step) years.push(year)
  return first <= last ? years : years.reverse()
}

/** Chooses at most so many of some jumps, evenly, with the first and the last. */
export function thin<Item> (items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items]
  const indexes = new Set(Array.from({ length: most }, (_, step) => Math.round(step * (items.length - 1) / (most - 1))))
  return items.filter((_item, index) => indexes.has(index))
}
