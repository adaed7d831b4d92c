/** Work done one after the other. */
export interface SerialQueue {
  /** Adds work at the end, unless work with the same key waits already. */
  add (key: string, work: () => Promise<void>): void
  /** Resolves once nothing waits or runs. */
  idle (): Promise<void>
  isOpen (): boolean
  /** Drops what waits and takes nothing new. */
  close (): void
}

export function createSerialQueue (onError: (err: unknown) => void): SerialQueue {
  const waiting = new Map<string, () => Promise<void>>()
  let running: Promise<void> | null = null
  let isClosed = false

  /** Goes on to what is added meanwhile. */
  async function run (): Promise<void> {
    for (const [key, work] of waiting) {
      waiting.delete(key)
      await work().catch(onError)
    }
    // At once, so that nothing that is added from here on waits for a run that is over.
    running = null
  }

  return {
    add (key, work) {
      if (isClosed) return
      if (!waiting.has(key)) waiting.set(key, work)
      running ??= run()
    },
    async idle () {
      if (running === null) return
      await running
      await this.idle()
    },
    isOpen: () => !isClosed,
    close () {
      isClosed = true
      waiting.clear()
    }
  }
}
