import { useEffect, useMemo } from 'preact/hooks'
import { type Load, type Resource, createCache } from './cache.ts'
import { onReturn } from './connection.ts'
import { type EventName, type Events, onEvent, onJoin } from './socket.ts'

/** The responses that all pages share. */
export const cache = createCache()
onJoin((lostUntil) => { cache.invalidateOlder(lostUntil) })
onReturn(() => { cache.invalidateAll() })
// No event tells of marks, saves and tokens that changed in another tab or on a device.
document.addEventListener('visibilitychange', () => { if (!document.hidden) cache.invalidateAll() })

/** Events after which a resource loads again: always, or if a function of the payload says so. */
export type Invalidation = { readonly [Name in EventName]?: true | ((payload: Events[Name]) => boolean) }

function listen<Name extends EventName> (key: string, name: Name, rule: Invalidation[Name]): () => void {
  return onEvent(name, (payload) => {
    const matches = rule as true | ((payload: Events[Name]) => boolean) | undefined
    if (matches === true || matches?.(payload) === true) cache.invalidate(key)
  })
}

/** Follows the events of a resource. @returns a function that stops */
function follow (key: string, events: Invalidation): () => void {
  const stops = (Object.keys(events) as EventName[]).map((name) => listen(key, name, events[name]))
  return () => { for (const stop of stops) stop() }
}

/**
 * Loads data for a component and keeps it current: events load it again, as does each reconnection.
 *
 * @param key names the data and all its parameters; components with the same key share one request
 */
export function useResource<Data> (key: string, load: Load<Data>, events: Invalidation = {}): Resource<Data> {
  // The key names everything that the other arguments depend on.
  useEffect(() => cache.use(key, load, () => follow(key, events)), [key])
  return useMemo(() => cache.peek(key, load), [key])
}
