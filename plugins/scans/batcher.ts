/** Gathers single items into batches, so that many small writes become few. */
export interface Batcher<Item> {
  /** Resolves when the batch with the item was written; rejects with what the write threw. */
  add (item: Item): Promise<void>
  /** Writes what is waiting. */
  flush (): Promise<void>
}

/** @param delayMs how long an item may wait for company, in milliseconds */
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
        timer = setTimeout(() => { flush().catch(() => { /* told to those who wait for the batch */ }) }, delayMs)
      }
      const { promise } = settled
      if (waiting.length >= max) flush().catch(() => { /* told to those who wait for the batch */ })
      return promise
    }
  }
}
