import { setTimeout as sleep } from 'node:timers/promises'

/** The shortest time between two loads, because clients can send ids of hosts that never existed. */
const LOAD_INTERVAL_MS = 200

/** The internal addresses of live hosts, by the host's id. */
export type Addresses = ReadonlyMap<string, string | null>

/**
 * Creates a cache of the addresses of hosts. A host that is not in the cache may have started just now, so the cache is
 * loaded again for it.
 */
export function createHostAddresses (load: () => Promise<Addresses>) {
  let cached: Addresses = new Map()
  let next: Promise<Addresses> | null = null
  let loadedAt = -Infinity

  async function loadNext (): Promise<Addresses> {
    await sleep(Math.max(0, loadedAt + LOAD_INTERVAL_MS - performance.now()))
    // Later callers wait for a load that begins after their call.
    next = null
    loadedAt = performance.now()
    cached = await load()
    return cached
  }

  /** Returns the address of a live host; null if the host has none, and undefined if it is not alive. */
  return async (id: string): Promise<string | null | undefined> => {
    const address = cached.get(id)
    if (address !== undefined) return address
    next ??= loadNext()
    return (await next).get(id)
  }
}
