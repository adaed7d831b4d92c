/** At most so many requests in any window of so many milliseconds: `{ requests: 1, perMs: 5_000 }` is one in 5 s. */
export interface Rate {
  readonly requests: number
  readonly perMs: number
  /** The hosts it counts for, such as the API's but not its picture CDN's; without it every host. */
  readonly hosts?: readonly string[] | undefined
}

/** How fast a source may be asked. The host keeps to it; waiting for a turn is not counted as time under way. */
export interface Limits {
  /** Calls and requests at once; default 4. */
  readonly concurrency?: number | undefined
  /** Milliseconds that one call may be under way; default 60,000. */
  readonly timeoutMs?: number | undefined
  /** All of them hold together. */
  readonly rates?: readonly Rate[] | undefined
}

/** What is left of a budget that comes back at a fixed time, such as 20,000 requests a day. */
export interface Allowance {
  /** What it counts, in one word: `day`, `month`. */
  readonly name: string
  /** Requests left; 0 pauses the source until `resetsAt`, also after a restart of the server. */
  readonly remaining: number
  readonly total?: number | undefined
  /** Milliseconds since 1970-01-01 UTC. */
  readonly resetsAt: number
}
