import type { ProviderDefinition } from '@svc/plugin-sdk'

/** The parts of a provider that determine its order. */
export type OrderedProvider = Pick<ProviderDefinition, 'key' | 'order'>

/** True if a provider is asked about every ROM, whatever the others found. */
export const isAlwaysAsked = ({ order: { when = 'always' } = {} }: OrderedProvider): boolean => when === 'always'

/** True if `later` waits for the result of `earlier`. */
function precedes (earlier: OrderedProvider, later: OrderedProvider): boolean {
  if (earlier.order?.links?.includes(later.key) === true) return true
  if (later.order?.after?.includes(earlier.key) === true) return true
  return isAlwaysAsked(earlier) && !isAlwaysAsked(later)
}

/** The keys on a way from one provider to another, both included; null when none leads there. */
function findWay (
  places: readonly OrderedProvider[], from: OrderedProvider, to: OrderedProvider, passed = new Set<string>()
): string[] | null {
  if (precedes(from, to)) return [from.key, to.key]
  passed.add(from.key)
  for (const next of places) {
    if (passed.has(next.key) || !precedes(from, next)) continue
    const way = findWay(places, next, to, passed)
    if (way !== null) return [from.key, ...way]
  }
  return null
}

/**
 * Returns the keys of the cycle that an added provider closes, with its own key first and last; null if it closes none.
 */
export function findCircle (places: readonly OrderedProvider[], added: OrderedProvider): string[] | null {
  return findWay([...places, added], added, added)
}

/** Returns for each provider all providers that it waits for, directly or through others. */
export function listPredecessors (places: readonly OrderedProvider[]): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, Set<string>>()
  function collect (place: OrderedProvider): Set<string> {
    const known = before.get(place.key)
    if (known !== undefined) return known
    const keys = new Set<string>()
    before.set(place.key, keys)
    for (const earlier of places) {
      if (precedes(earlier, place)) for (const key of [earlier.key, ...collect(earlier)]) keys.add(key)
    }
    return keys
  }
  for (const place of places) collect(place)
  return before
}
