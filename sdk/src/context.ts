/** What a plugin is handed. A plugin reads no environment, no database and no disk on its own. */
export interface Context<Config = unknown> {
  /** The plugin's own configuration, checked against its schema, defaults filled in. */
  readonly config: Config
  readonly http: HttpClient
  readonly log: Logger
  readonly cache: Cache
  readonly files: Files
  /** Aborted when the work is cancelled or its time limit passes. Hand it on; never swallow its reason. */
  readonly signal: AbortSignal
  readonly preferences: Preferences
  /**
   * Runs `create` once per key for the length of one scan (or of one call outside a scan) and shares the promise:
   * for listings and files that every ROM of a platform needs. Keys are the plugin's own; a rejection is not kept.
   */
  memo<T>(key: string, create: () => Promise<T>): Promise<T>
}

/** What the owner of the library prefers, from `scan.priority.*` and `scan.media`. */
export interface Preferences {
  /** Region codes, most wanted first: `us`, `wor`, `eu`, `jp`, … */
  readonly regions: readonly string[]
  /** Language codes, most wanted first: `en`, `fr`, … */
  readonly languages: readonly string[]
  /** The media kinds to keep besides the cover. */
  readonly media: readonly string[]
}

export interface Logger {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

export interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Appended to the URL; `undefined` and `null` are left out, arrays repeat the name. */
  query?: Record<string, string | number | boolean | undefined | null | readonly (string | number)[]>
  headers?: Record<string, string>
  /** Sent as `application/json`. At most one of `json`, `form` and `body`. */
  json?: unknown
  /** Sent as `application/x-www-form-urlencoded`. */
  form?: Record<string, string>
  body?: string | Uint8Array
  /** Statuses outside 2xx that are answers, not errors, such as 404. */
  accept?: readonly number[]
  /** Milliseconds until the whole answer must be there; default 30,000. */
  timeoutMs?: number
  /** Milliseconds a successful answer may be reused for the same request; default 0. */
  cacheMs?: number
  /** Largest answer in bytes; default 16 MiB. */
  maxBytes?: number
  /** Whether a repeated request is harmless; default true for GET and HEAD. Only such requests are retried. */
  retry?: boolean
  /** How many redirects are followed; default 3, and 0 makes a redirect an error. */
  redirects?: number
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  text (): string
  /** @throws ServiceDownError when the body is not JSON. */
  json (): unknown
}

/**
 * The only way out. It times out, retries with jitter, honours `Retry-After`, limits sizes and masks secrets in logs.
 *
 * @throws RateLimitedError on 429 · ServiceDownError on 5xx, time-out and connection failure · HttpStatusError on any
 * other status outside 2xx that is not in `accept`.
 */
export interface HttpClient {
  request (url: string, options?: RequestOptions): Promise<HttpResponse>
  /** The parsed JSON body. What it holds is unknown: look before use. */
  json (url: string, options?: RequestOptions): Promise<unknown>
  text (url: string, options?: RequestOptions): Promise<string>
}

/** Keeps JSON values across restarts, apart for every plugin. */
export interface Cache {
  get (key: string): Promise<unknown>
  /** @param ttlMs how long the value is kept, in milliseconds; without it until the plugin deletes it. */
  set (key: string, value: unknown, ttlMs?: number): Promise<void>
  delete (key: string): Promise<void>
}

export interface FileEntry {
  readonly name: string
  readonly kind: 'file' | 'folder'
  /** Bytes. */
  readonly size: number
}

/** Read-only view of the library. Paths are relative to it, with forward slashes; nothing outside can be read. */
export interface Files {
  /** The text of a file, or null when there is none. @throws Error when larger than `maxBytes` (default 64 MiB). */
  readText (path: string, maxBytes?: number): Promise<string | null>
  /** The entries of a folder in name order; empty when there is no such folder. */
  list (path: string): Promise<readonly FileEntry[]>
  exists (path: string): Promise<boolean>
}
