import { isMainThread } from 'node:worker_threads'

// tap takes a list for a match if it begins like the pattern, so `t.match(list, [])` would pass for every list. A test
// that names the entries of a list means that there are no others.

/** Returns the pattern with each of its lists as long as the list that it describes, which then fails to match. */
function fillLists (found, wanted) {
  if (typeof found !== 'object' || found === null) return wanted
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const entries = wanted.map((one, index) => fillLists(found[index], one))
    return found.length > wanted.length ? [...entries, ...Array(found.length - wanted.length)] : entries
  }
  if (typeof wanted !== 'object' || wanted === null || Object.getPrototypeOf(wanted) !== Object.prototype) return wanted
  return Object.fromEntries(Object.entries(wanted).map(([name, one]) => [name, fillLists(found[name], one)]))
}

// Threads that a test starts load this module, too, and have no use for tap.
if (isMainThread) {
  const { Assertions } = await import('@tapjs/asserts')
  const { match } = Assertions.prototype
  Assertions.prototype.match = function (found, wanted, ...rest) {
    return match.call(this, found, fillLists(found, wanted), ...rest)
  }
}
