/** Collects single items into batches, because a few writes of many items replace many small ones. */
export interface Batcher<Item> {
  /** Resolves after the batch with this item is written; rejects with the error of the write. */
  add (item: Item): Promise<void>
  /** Writes the items that wait. */
  flush (): Promise<void>
}

/** Creates a batcher. @param delayMs the longest time that an item waits for further items, in milliseconds */
export function createBatcher<Item> (
  write: (items: Item[]) => Promise<void>, { max, delayMs }: { max: number, delayMs: number }
): Batcher<Item> {
  let waiting: Item[] = []
  let settled: PromiseWithResolvers<void> | null = null
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()

  function flush (): Promise<void> {
    clearTimeout(timer)
    const items = waiting
    const promise = settled
    if (promise === null) return last.catch(() => {})
    waiting = []
    settled = null
    last = last.catch(() => {}).then(() => write(items))
    last.then(promise.resolve, promise.reject)
    return last
  }

  return {
    flush,
    add (item) {
      waiting.push(item)
      if (settled === null) {
        settled = Promise.withResolvers()
        timer = setTimeout(() => { flush().catch(() => { /* `add` reports the error */ }) }, delayMs)
      }
      const { promise } = settled
      if (waiting.length >= max) flush().catch(() => { /* `add` reports the error */ })
      return promise
    }
  }
}
