import { type Signal, signal } from '@preact/signals'
import { type Failure, isCancelled, toFailure } from './failure.ts'

/** A cached response with its state, for pages that show it. */
export interface Resource<Data> {
  /** The newest data; undefined until the first response. It stays while newer data loads. */
  readonly data: Signal<Data | undefined>
  /** The failure of the last request; null after a success. */
  readonly failure: Signal<Failure | null>
  readonly isLoading: Signal<boolean>
}

/** Loads the data of a resource; the signal cancels a request whose response nobody needs any more. */
export type Load<Data> = (signal: AbortSignal) => Promise<Data>

interface Entry extends Resource<unknown> {
  load: Load<unknown>
  /** The number of components that show it. */
  users: number
  isStale: boolean
  /** When its last request began, on the clock of `performance.now()`. */
  requestedAt: number
  controller: AbortController | null
  timer: ReturnType<typeof setTimeout> | null
  /** When the first postponed reload was asked for. */
  waitingSince: number | null
  /** Ends the listening to events that goes on while nobody shows it; null while somebody does. */
  unfollow: (() => void) | null
}

/** Several events of one change arrive together, and lead to one request. */
const DEBOUNCE_MS = 150
/** During a flood of events, such as a scan, data is at most this old. */
const DELAY_MAX_MS = 1_000
/** A running request this old may be lost with its connection, so an event sends another one. */
const REQUEST_MAX_MS = 5_000
/** Resources that nobody shows stay, so that the way back shows them at once. */
const UNUSED_MAX = 60

const createEntry = (load: Load<unknown>): Entry => ({
  data: signal(undefined),
  failure: signal(null),
  isLoading: signal(false),
  load,
  users: 0,
  isStale: true,
  requestedAt: 0,
  controller: null,
  timer: null,
  waitingSince: null,
  unfollow: null
})

function stopTimer (entry: Entry): void {
  if (entry.timer !== null) clearTimeout(entry.timer)
  entry.timer = null
  entry.waitingSince = null
}

/** Loads an entry. The response of a former request is dropped. */
async function request (entry: Entry): Promise<void> {
  stopTimer(entry)
  entry.controller?.abort()
  const controller = new AbortController()
  entry.controller = controller
  entry.isStale = false
  entry.requestedAt = performance.now()
  entry.isLoading.value = true
  try {
    const data = await entry.load(controller.signal)
    if (entry.controller !== controller) return
    entry.data.value = data
    entry.failure.value = null
  } catch (err) {
    if (entry.controller !== controller) return
    entry.isStale = true
    if (!isCancelled(err)) entry.failure.value = toFailure(err)
  }
  entry.controller = null
  entry.isLoading.value = false
}

/** Loads an entry again after its running request, because a flood of events would otherwise cancel each response. */
function repeat (entry: Entry): void {
  if (entry.controller === null || performance.now() - entry.requestedAt > REQUEST_MAX_MS) void request(entry)
  else entry.timer = setTimeout(() => { repeat(entry) }, DEBOUNCE_MS)
}

/** Loads an entry again after a short wait for further events, or marks it if nobody shows it. */
function postpone (entry: Entry): void {
  entry.isStale = true
  if (entry.users === 0) return
  const since = entry.waitingSince ?? Date.now()
  const delay = Math.max(0, Math.min(DEBOUNCE_MS, since + DELAY_MAX_MS - Date.now()))
  stopTimer(entry)
  entry.waitingSince = since
  entry.timer = setTimeout(() => { repeat(entry) }, delay)
}

/** Drops the running request of an entry. */
function cancel (entry: Entry): void {
  entry.controller?.abort()
  entry.controller = null
  entry.isLoading.value = false
}

/** Creates a cache of responses. A response that a later request superseded is dropped. */
export function createCache () {
  /** In the order of their last use. */
  const entries = new Map<string, Entry>()

  function prune (): void {
    const unused = [...entries].filter(([, { users }]) => users === 0)
    for (const [key, entry] of unused.slice(0, Math.max(0, unused.length - UNUSED_MAX))) {
      stopTimer(entry)
      entry.unfollow?.()
      entries.delete(key)
    }
  }

  function find<Data> (key: string, load: Load<Data>): Entry {
    const entry = entries.get(key) ?? createEntry(load)
    entry.load = load
    entries.delete(key)
    entries.set(key, entry)
    return entry
  }

  return {
    /** Returns a resource without using it. */
    peek: <Data>(key: string, load: Load<Data>): Resource<Data> => find(key, load) as Resource<Data>,

    /**
     * Begins to use a resource, which loads it unless its data is current.
     *
     * @param follow invalidates the resource after events, until the function that it returns is called
     * @returns a function that ends the use
     */
    use<Data> (key: string, load: Load<Data>, follow: () => () => void = () => () => {}): () => void {
      const entry = find(key, load)
      entry.users++
      const stop = follow()
      entry.unfollow?.()
      entry.unfollow = null
      if (entry.isStale) void request(entry)
      return () => {
        entry.users--
        if (entry.users > 0 || entries.get(key) !== entry) stop()
        // Events mark data that nobody shows, because its next use would show it as current.
        else entry.unfollow = stop
        if (entry.users > 0) return
        if (entry.timer !== null || entry.controller !== null) entry.isStale = true
        stopTimer(entry)
        cancel(entry)
        prune()
      }
    },

    /** Loads a resource again soon, because an event says that it changed. */
    invalidate (key: string): void {
      const entry = entries.get(key)
      if (entry !== undefined) postpone(entry)
    },

    /** Loads all resources again whose keys begin with a prefix; those that nobody shows load at their next use. */
    invalidateAll (prefix = ''): void {
      for (const [key, entry] of entries) if (key.startsWith(prefix)) postpone(entry)
    },

    /** Loads all resources again that were requested before a time, on the clock of `performance.now()`. */
    invalidateOlder (time: number): void {
      for (const entry of entries.values()) if (entry.requestedAt <= time) postpone(entry)
    },

    /** Loads a resource again at once. */
    async reload (key: string): Promise<void> {
      const entry = entries.get(key)
      if (entry !== undefined) await request(entry)
    },

    /**
     * Replaces the data of a resource, with the response to a change for instance. A running request is dropped,
     * because its response may be older, and sent again, because it may contain other news.
     */
    set<Data> (key: string, update: (data: Data | undefined) => Data | undefined): void {
      const entry = entries.get(key)
      if (entry === undefined) return
      const isLoading = entry.controller !== null
      cancel(entry)
      if (isLoading) postpone(entry)
      entry.data.value = update(entry.data.value as Data | undefined)
    },

    /** Forgets everything, because another account signed in. */
    clear (): void {
      for (const entry of entries.values()) {
        stopTimer(entry)
        cancel(entry)
        entry.unfollow?.()
      }
      entries.clear()
    }
  }
}
