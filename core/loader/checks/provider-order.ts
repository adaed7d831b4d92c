import type { ProviderDefinition } from '@svc/plugin-sdk'

/** The parts of a provider that determine its order. */
export type OrderedProvider = Pick<ProviderDefinition, 'key' | 'order'>

/** True if a provider is asked about every ROM, whatever the others found. */
const isAlwaysAsked = ({ order: { when = 'always' } = {} }: OrderedProvider): boolean => when === 'always'

/** True if `later` waits for the result of `earlier`. */
function precedes (earlier: OrderedProvider, later: OrderedProvider): boolean {
  if (earlier.order?.links?.includes(later.key) === true) return true
  if (later.order?.after?.includes(earlier.key) === true) return true
  return isAlwaysAsked(earlier) && !isAlwaysAsked(later)
}

/** The keys on a way from one provider to another, both included; null when none leads there. */
function findPath (
  providers: readonly OrderedProvider[], from: OrderedProvider, to: OrderedProvider, passed = new Set<string>()
): string[] | null {
  if (precedes(from, to)) return [from.key, to.key]
  passed.add(from.key)
  for (const next of providers) {
    if (passed.has(next.key) || !precedes(from, next)) continue
    const path = findPath(providers, next, to, passed)
    if (path !== null) return [from.key, ...path]
  }
  return null
}

/**
 * Returns the keys of the cycle that an added provider closes, with its own key first and last; null if it closes none.
 */
export function findCycle (providers: readonly OrderedProvider[], added: OrderedProvider): string[] | null {
  return findPath([...providers, added], added, added)
}

/** Returns for each provider all providers that it waits for, directly or through others. */
export function listPredecessors (providers: readonly OrderedProvider[]): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, Set<string>>()
  function collect (provider: OrderedProvider): Set<string> {
    const collected = before.get(provider.key)
    if (collected !== undefined) return collected
    const keys = new Set<string>()
    before.set(provider.key, keys)
    for (const earlier of providers) {
      if (precedes(earlier, provider)) for (const key of [earlier.key, ...collect(earlier)]) keys.add(key)
    }
    return keys
  }
  for (const provider of providers) collect(provider)
  return before
}
