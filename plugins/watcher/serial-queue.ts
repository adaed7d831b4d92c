/** A queue that runs its work one after the other. */
export interface SerialQueue {
  /** Adds work at the end, unless work with the same key is already waiting. */
  add (key: string, work: () => Promise<void>): void
  /** Resolves once nothing waits or runs. */
  idle (): Promise<void>
  isOpen (): boolean
  /** Drops waiting work and accepts no new work. */
  close (): void
}

export function createSerialQueue (onError: (err: unknown) => void): SerialQueue {
  const waiting = new Map<string, () => Promise<void>>()
  let running: Promise<void> | null = null
  let isClosed = false

  /** Runs all waiting work, also work that is added meanwhile. */
  async function run (): Promise<void> {
    for (const [key, work] of waiting) {
      waiting.delete(key)
      await work().catch(onError)
    }
    // Reset at once, because work that is added from here on must start a new run.
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
