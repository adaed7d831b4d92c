import type pg from 'pg'

/** A statement that comes this often within a minute is planned once per connection, not each time. */
const TIMES_MIN = 5
const MINUTE_MS = 60_000
/** Each prepared statement costs every connection some 50 kB in the database. */
const NAMES_MAX = 100
/** The most statements that are counted at a time. */
const COUNTED_MAX = 1_000

/** Creates a function that returns the name of a prepared statement; undefined for a statement that is not frequent. */
export function createNames (now: () => number = Date.now) {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  let since = now()

  function count (text: string): number {
    if (now() - since > MINUTE_MS || counts.size >= COUNTED_MAX) {
      counts.clear()
      since = now()
    }
    const times = (counts.get(text) ?? 0) + 1
    counts.set(text, times)
    return times
  }

  return (text: string): string | undefined => {
    const statement = names.get(text)
    if (statement !== undefined) return statement
    if (names.size >= NAMES_MAX || count(text) < TIMES_MIN) return undefined
    counts.delete(text)
    names.set(text, `svc_${names.size + 1}`)
    return names.get(text)
  }
}

/**
 * Makes the connections of a pool prepare frequent statements, because planning is most of the cost of a short one.
 * Statements without values, such as `begin`, are not prepared.
 */
export function prepareStatements (pool: pg.Pool): void {
  const findName = createNames()
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Reflect.set(client, 'query', (text: unknown, values: unknown, ...rest: unknown[]) => {
      const isPlain = typeof text === 'string' && Array.isArray(values) && values.length > 0
      const name = isPlain ? findName(text) : undefined
      return name === undefined ? query(text, values, ...rest) : query({ name, text, values }, ...rest)
    })
  })
}
