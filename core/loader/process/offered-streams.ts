/** An iterable that stays in its process; the other end reads it by this reference. */
export interface StreamReference { $stream: number }

interface Offered { iterator: AsyncIterator<unknown>, onEnd: () => void }

/** Creates the list of iterables that this end offers. The other end reads them item by item. */
export function createOfferedStreams () {
  const offered = new Map<number, Offered>()
  let lastId = 0

  return {
    /** Returns the number of streams that the other end has open. */
    count: () => offered.size,
    /** @param onEnd called when the other end has read the stream */
    add (iterable: AsyncIterable<unknown>, onEnd: () => void = () => {}): StreamReference {
      const id = ++lastId
      offered.set(id, { iterator: iterable[Symbol.asyncIterator](), onEnd })
      return { $stream: id }
    },
    /** Reads the next item. A stream that this end does not offer has none. */
    async next (id: number): Promise<IteratorResult<unknown, unknown>> {
      return await offered.get(id)?.iterator.next() ?? { done: true, value: undefined }
    },
    async end (id: number): Promise<unknown> {
      const stream = offered.get(id)
      if (stream === undefined) return undefined
      offered.delete(id)
      stream.onEnd()
      return await stream.iterator.return?.()
    },
    /** Ends all streams, because the other end is gone. */
    endAll (): void {
      for (const { iterator } of offered.values()) {
        iterator.return?.().catch(() => { /* no reader is left */ })
      }
      offered.clear()
    }
  }
}
