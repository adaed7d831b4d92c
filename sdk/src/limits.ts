/** At most `requests` requests in any window of `perMs` milliseconds: `{ requests: 1, perMs: 5_000 }` is one in 5 s. */
export interface Rate {
  readonly requests: number
  readonly perMs: number
  /** The hosts to which the rate applies, such as the API but not its picture CDN; default every host. */
  readonly hosts?: readonly string[] | undefined
}

/** Limits on requests to a service, enforced by the host. Waiting in the queue does not count as running time. */
export interface Limits {
  /** Maximum number of concurrent calls, and of concurrent requests; default 4 calls and any number of requests. */
  readonly concurrency?: number | undefined
  /** Maximum duration of one call in milliseconds; default 60,000. */
  readonly timeoutMs?: number | undefined
  /** Rates, which all apply together. */
  readonly rates?: readonly Rate[] | undefined
}

/** The remaining part of a budget that resets at a fixed time, such as 20,000 requests a day. */
export interface Allowance {
  /** The period of the budget in one word: `day`, `month`. */
  readonly name: string
  /** Requests left; 0 pauses the provider until `resetsAt`, also after a restart of the server. */
  readonly remaining: number
  readonly total?: number | undefined
  /** Milliseconds since 1970-01-01 UTC. */
  readonly resetsAt: number
}
